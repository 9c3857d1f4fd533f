// What the points are coloured by: fields, the address, and the service's answer.
import { h, settled } from "../../lib/dom.js";
import { choice, field } from "../../lib/fields.js";
import { classColumns, itemName } from "../../lib/items.js";
import { allBits, sideName } from "../../lib/names.js";

const STEPS = [0.002, 0.03, 0.4]; // shares of points that are near, rather near, and all but far

function choices(facts) {
  const own = classColumns(facts).map((name) => [`class:${name}`, `Class: ${name}`]);
  const others = facts.columns
    .filter(({ name, is_class: isClass, type }) => !isClass && name !== facts.item_column && /int|bool|string|dictionary/.test(type))
    .map(({ name }) => [`class:${name}`, `Column: ${name}`]);
  return [...own, ["bit", "Bit"], ["distance", "Distance"], ["trust", "Neighbours kept"], ...others];
}

/** The values below which these shares of all points lie, rising. */
function quantiles(values, shares) {
  const counts = new Uint32Array(256);
  for (const value of values) counts[value] += 1;
  let last = 0;
  return shares.map((share) => {
    let sum = 0;
    const found = counts.findIndex((n) => (sum += n) >= share * values.length);
    last = Math.max(found, last + 1);
    return last;
  });
}

/**
 * `coloured({values, legend, title})` is called with each answer; `item()` is the item
 * that distances are measured from unless a text is given.
 */
export function colouring(context, map, { coloured, failed, item }) {
  const { facts, address, api } = context;
  const options = choices(facts);
  const values = options.map(([name]) => name);
  const bits = Array.from({ length: facts.n_bits }, (_, each) => `bit:${each}`);
  const given = address.oneOf("by", [...values, ...bits], values[0]);
  const [kind] = given.startsWith("bit:") ? ["bit"] : [given];
  const by = choice(options, kind);
  const bit = h("input", { type: "number", min: "0", max: String(facts.n_bits - 1), value: given.split(":")[1] && kind === "bit" ? given.split(":")[1] : "0" });
  const text = h("input", { type: "search", placeholder: "A text, or click a point", value: address.get("from", "") });
  const bitField = field("Number", bit);
  const textField = field("Distance from", text, { class: "field text" });
  let from = null; // the item that distances are measured from
  let turn = 0;

  const asked = async () => {
    if (by.value === "bit") return { query: `by=bit:${bit.value}`, title: `Bit ${bit.value}` };
    if (by.value !== "distance") return { query: `by=${encodeURIComponent(by.value)}`, title: options.find(([name]) => name === by.value)[1] };
    if (text.value.trim()) {
      const { codes } = await api.post("v1/encode", { texts: [text.value.trim()] });
      return { query: `by=distance&code=${codes[0]}`, title: `Distance from “${text.value.trim()}”` };
    }
    from = item() ?? from;
    if (from === null) return null;
    return { query: `by=distance&id=${encodeURIComponent(from.id)}`, title: `Distance from ${itemName(facts, from.id, from.columns)}` };
  };

  const colour = async () => {
    bitField.hidden = by.value !== "bit";
    textField.hidden = by.value !== "distance" || facts.kind !== "texts";
    address.set({ by: by.value === "bit" ? `bit:${bit.value}` : by.value === options[0][0] ? null : by.value, from: by.value === "distance" && text.value.trim() ? text.value.trim() : null });
    turn += 1;
    const mine = turn;
    try {
      const wanted = await asked();
      if (wanted === null) {
        if (mine === turn) failed(new Error("Click a point to measure distances from it."));
        return;
      }
      const query = `${wanted.query}&version=${map.version}`;
      const [legend, values] = await Promise.all([api.get(`v1/map/legend?${query}`), api.bytes(`v1/map/colours?${query}`)]);
      if (legend.kind === "scale") legend.scale.steps = quantiles(values, STEPS);
      if (legend.kind === "bit") legend.names = await sidesOf(Number(bit.value));
      if (mine === turn) coloured({ legend, values, title: wanted.title });
    } catch (error) {
      if (error.name !== "AbortError" && mine === turn) failed(error);
    }
  };
  const sidesOf = async (number) => {
    try {
      const { bits } = await allBits();
      return [sideName(bits[number], 0), sideName(bits[number], 1)];
    } catch {
      return null;
    }
  };

  const soon = settled(colour, 250);
  by.addEventListener("change", colour);
  bit.addEventListener("input", soon);
  text.addEventListener("input", soon);
  return {
    fields: [field("Colour by", by), bitField, textField],
    start: colour,
    /** The classes that points are coloured by, or else the first ones. */
    classes() {
      const own = classColumns(facts);
      return own.find((name) => by.value === `class:${name}`) ?? own[0] ?? null;
    },
    byDistance() {
      by.value = "distance";
      text.value = "";
      from = item();
      return colour();
    },
  };
}
