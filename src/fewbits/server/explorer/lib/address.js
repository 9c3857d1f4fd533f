// The state of a view lies in the address, so that it can be shared: #view?name=value.
// What an address asks for and cannot have is told: it is never dropped in silence.
import { count, shortened } from "./dom.js";
import { parse as parseJson } from "./json.js";

const LISTED = 8;

export function parse(hash) {
  const [name, query = ""] = hash.replace(/^#/, "").split("?", 2);
  return { name, values: new URLSearchParams(query) };
}

export function link(view, values = {}) {
  const given = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const query = new URLSearchParams(given).toString();
  return `#${view}${query ? `?${query}` : ""}`;
}

export class Address {
  /** `told(text)` is called with each fault, once. */
  constructor(view, told = () => {}) {
    this.view = view;
    this.hash = location.hash;
    this.faults = new Set();
    this.told = told;
  }

  get(name, otherwise = null) {
    return parse(location.hash).values.get(name) ?? otherwise;
  }

  /** Tells that a value cannot be had, and returns what there is in place of it. */
  refuse(name, wanted, otherwise = null) {
    const instead = otherwise === null || otherwise === "" ? "it is left out" : `this is ${name}=${otherwise}`;
    const text = `The address has ${name}=${shortened(this.get(name), 40)}, but ${wanted}: ${instead}.`;
    if (!this.faults.has(text)) this.told(text);
    this.faults.add(text);
    return otherwise;
  }

  /** A whole number within bounds. */
  whole(name, otherwise, low, high) {
    const given = this.get(name) || null;
    if (given === null) return otherwise;
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= low && value <= high) return value;
    return this.refuse(name, `${name} is a whole number from ${count(low)} to ${count(high)}`, otherwise);
  }

  /** One of some values. */
  oneOf(name, values, otherwise) {
    const given = this.get(name) || null;
    if (given === null) return otherwise;
    if (values.includes(given)) return given;
    const more = values.length > LISTED ? ", …" : "";
    const listed = `${values.length > 1 ? "one of " : ""}${values.slice(0, LISTED).join(", ")}${more}`;
    const wanted = values.length ? `is ${listed}` : "has no values here";
    return this.refuse(name, `${name} ${wanted}`, otherwise);
  }

  /** A share between 0 and 1, as it is written. */
  share(name, otherwise) {
    const given = this.get(name) || null;
    if (given === null || (Number(given) > 0 && Number(given) < 1)) return given ?? otherwise;
    return this.refuse(name, `${name} is a number between 0 and 1`, otherwise);
  }

  /** A list of ids, as JSON. */
  ids(name) {
    try {
      const given = parseJson(this.get(name) || "[]");
      const isId = (each) => ["number", "bigint", "string"].includes(typeof each);
      if (Array.isArray(given) && given.every(isId)) return given;
    } catch {
      // Told below.
    }
    this.refuse(name, `${name} is a list of ids, such as [1,2] or ["a","b"]`);
    return [];
  }

  /** Changes some values; null removes one. `push` adds a step to go back to. */
  set(changes, { push = false } = {}) {
    // Another address has been opened, and its view is about to be shown: it is not overwritten.
    if (location.hash !== this.hash) return;
    const { name, values } = parse(location.hash);
    const kept = name === this.view ? Object.fromEntries(values) : {};
    const to = link(this.view, { ...kept, ...changes });
    if (to === location.hash) return;
    history[push ? "pushState" : "replaceState"](null, "", to);
    this.hash = location.hash;
  }

  link(view, values = {}) {
    return link(view, values);
  }
}
