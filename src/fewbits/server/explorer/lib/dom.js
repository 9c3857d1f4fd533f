// Elements without markup in strings: what users type can never become HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function apply(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) {
        element.addEventListener(event, handler);
      }
    } else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "vars") {
      // Set by script, so that no style attribute is needed.
      for (const [key, each] of Object.entries(value)) {
        element.style.setProperty(key, each);
      }
    } else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An element with attributes, `on` handlers, `data` and `vars` (custom properties). */
export function h(tag, properties = {}, ...children) {
  return apply(document.createElement(tag), properties, children);
}

/** The same for a drawing. */
export function s(tag, properties = {}, ...children) {
  return apply(document.createElementNS(SVG, tag), properties, children);
}

/** Replaces what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

const INTEGERS = new Intl.NumberFormat("en-US");
export const count = (number) =>
  number === null || number === undefined ? "–" : INTEGERS.format(number);

export const noun = (number, one, many = `${one}s`) => (Number(number) === 1 ? one : many);
/** A number with its noun: "1 item", "2 items". */
export const plural = (number, ...nouns) => `${count(number)} ${noun(number, ...nouns)}`;

/** The beginning of a text that is too long for its place. */
export const shortened = (text, most) =>
  text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "").trimEnd()}…` : text;

/** A sentence of a note that the service words as a part of one. */
export const sentence = (text) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

export function percent(share, digits = 1) {
  if (share === null || share === undefined) return "–";
  return `${(100 * share).toFixed(digits)} %`;
}

export function bytes(number) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${number.toFixed(unit && number < 100 ? 1 : 0)} ${units[unit]}`;
}

/** Calls `handler` once when calls have paused. */
export function settled(handler, pause = 150) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => handler(...given), pause);
  };
}

let last = 0;
export const freshId = (prefix) => `${prefix}-${(last += 1)}`;
