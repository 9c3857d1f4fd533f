// Items of the collection: a picture or a text, and the columns beside it.
import { h, shortened } from "./dom.js";
import { parseWhole, stringify } from "./json.js";

const LONGEST = 320; // characters of a text that are shown at first
const LONGEST_VALUE = 120; // of a column beside it
const LONGEST_NAME = 240; // of a text that is a name in a sentence

function text(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "object") return stringify(value);
  return String(value);
}

/** The column that says what an item is: its text, or else its class. */
export function leadColumn(facts) {
  const names = facts.columns.map((column) => column.name);
  if (facts.kind === "texts" && names.includes(facts.item_column)) return facts.item_column;
  return classColumn(facts) ?? names.find((name) => name !== facts.item_column) ?? names[0] ?? null;
}

/** Columns that hold classes; the one with labels is first. */
export function classColumns(facts) {
  const found = facts.columns.filter((column) => column.is_class).map((column) => column.name);
  const label = facts.label_column;
  return label ? [label, ...found.filter((name) => name !== label)] : found;
}

export const classColumn = (facts) => classColumns(facts)[0] ?? null;

function leadText(facts, id, columns) {
  const lead = leadColumn(facts);
  return lead === null || columns?.[lead] === undefined ? `item ${id}` : text(columns[lead]);
}

/** Whether items are called by their class, which many of them have. */
const isCalledByClass = (facts) => leadColumn(facts) !== null && leadColumn(facts) === classColumn(facts);

/** The name of an item in a sentence. */
export function itemName(facts, id, columns) {
  const name = shortened(leadText(facts, id, columns), LONGEST_NAME);
  return isCalledByClass(facts) && columns ? `${name} (id ${id})` : name;
}

/** Fills `element` with a text; of a long one with its beginning, and a button behind it. */
function withText(element, whole, most) {
  element.append(shortened(whole, most));
  if (whole.length <= most) return [element];
  const button = h(
    "button",
    { class: "quiet expand", type: "button", "aria-expanded": "false", "aria-label": "more of this text" },
    "more",
  );
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") !== "true";
    element.textContent = isOpen ? whole : shortened(whole, most);
    button.setAttribute("aria-expanded", String(isOpen));
    button.textContent = isOpen ? "less" : "more";
    button.setAttribute("aria-label", `${button.textContent} of this text`);
  });
  return [element, button];
}

/** The same without an element, as children of one. */
export const longText = (whole, most) =>
  whole.length > most ? withText(h("span"), whole, most) : [whole];

export function thumbnail(facts, id, name) {
  const image = h("img", {
    class: "thumb",
    src: `v1/items/${encodeURIComponent(id)}/image`,
    alt: name,
    loading: "lazy",
    on: {
      // Small pictures are enlarged pixel by pixel.
      load: () => image.classList.toggle("tiny", image.naturalWidth <= 40),
      error: () => image.replaceWith(h("span", { class: "thumb lacking", title: "no picture" })),
    },
  });
  return image;
}

/** An item with its columns; `colour` gives classes a hue, `extra` follows the columns. */
export function itemCard(facts, { id, columns }, { colour = null, href = null } = {}) {
  const lead = leadColumn(facts);
  const label = classColumn(facts);
  const name = leadText(facts, id, columns);
  const more = Object.entries(columns ?? {}).filter(
    ([key]) => key !== lead && !(facts.kind === "images" && key === facts.item_column),
  );
  return h(
    "div",
    { class: isCalledByClass(facts) ? "item by-class" : "item" },
    facts.kind === "images" && thumbnail(facts, id, shortened(name, LONGEST_NAME)),
    h(
      "div",
      {},
      h(
        "p",
        { class: "lead" },
        lead === label && lead !== null && dot(colour, columns[label]),
        ...withText(href ? h("a", { href }) : h("span"), name, LONGEST),
      ),
      h(
        "p",
        { class: "more" },
        h("span", {}, `id ${id}`),
        ...more.map(([key, value]) =>
          h(
            "span",
            { title: key },
            key === label && dot(colour, value),
            ...longText(text(value), LONGEST_VALUE),
          ),
        ),
      ),
    ),
  );
}

/** An item on one line, with its picture where it is one. */
export function itemLine(facts, id, columns) {
  const name = itemName(facts, id, columns);
  return h(
    "span",
    { class: "itemline" },
    facts.kind === "images" && thumbnail(facts, id, ""),
    name,
  );
}

export function dot(colour, value) {
  return colour && h("span", { class: `dot ${colour(value)}`, "aria-hidden": "true" });
}

/** Ids as the service takes them: of texts, each space counts. */
export function parseId(facts, given) {
  if (facts.id_type === "string") return given;
  const trimmed = given.trim();
  return /^-?\d+$/.test(trimmed) ? parseWhole(trimmed) : trimmed;
}
