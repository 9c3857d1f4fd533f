// The selected items as a table, and as a file.
import { count, fill, h, plural } from "../../lib/dom.js";
import { leadColumn, longText } from "../../lib/items.js";
import { stringify } from "../../lib/json.js";
import { during } from "../../lib/notes.js";
import { save } from "../../lib/save.js";

const SHOWN = 50;
const LONGEST = 160; // characters of a value that are shown at first
const COMPARISONS = 5e9; // that the service makes for the neighbours of an export
const KINDS = { CSV: ["csv", "text/csv"], Parquet: ["parquet", "application/vnd.apache.parquet"] };

const text = (value) => {
  if (value === null || value === undefined) return "–";
  return typeof value === "object" ? stringify(value) : String(value);
};

function table(facts, items, total) {
  const lead = leadColumn(facts);
  const names = facts.columns.map(({ name }) => name);
  const ordered = lead === null ? names : [lead, ...names.filter((name) => name !== lead)];
  const link = (item) => h("a", { href: `#search?id=${encodeURIComponent(item.id)}` }, String(item.id));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Selected items" },
    h(
      "table",
      {},
      h("caption", {}, total > items.length ? `${count(items.length)} of ${count(total)} selected items, drawn at random` : plural(total, "selected item")),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "id"), ...ordered.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...items.map((item) => h("tr", {}, h("th", { scope: "row" }, link(item)), ...ordered.map((name) => h("td", {}, ...longText(text(item.columns[name]), LONGEST)))))),
    ),
  );
}

/** Shares of classes among the selected points. */
function classes(values, legend, selected) {
  if (legend?.kind !== "classes" || !values) return null;
  const counts = new Map();
  for (const point of selected) counts.set(values[point], (counts.get(values[point]) ?? 0) + 1);
  const found = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6);
  const name = (value) => (value === 254 ? "other classes" : value === 255 ? "no class" : String(legend.legend[value].label));
  return h(
    "p",
    { class: "row" },
    ...found.map(([value, n]) => h("span", { class: "chip" }, h("span", { class: `dot ${value < 10 ? `class-${value}` : "class-rest"}`, "aria-hidden": "true" }), `${name(value)} ${count(n)}`)),
  );
}

/** Fills `box` with the selection; rows are in random order, as points are. */
export async function showSelection(context, box, { rows, selected, values, legend, version, nItems, clear }) {
  const { api, facts, announce } = context;
  const neighbours = rows.length * nItems <= COMPARISONS ? 10 : 0;
  const listed = h("div", {});
  const exported = (kind) => async () => {
    const [ending, type] = KINDS[kind];
    await during(listed, async () => {
      const file = await api.file("v1/map/export", { positions: rows, neighbours, version }, type);
      save(`map-selection.${ending}`, file, type);
      announce(`${plural(rows.length, "item is", "items are")} saved as ${kind}.`);
    });
  };
  fill(
    box,
    h(
      "section",
      { class: "card stack mapped", "aria-label": "Selection" },
      h(
        "div",
        { class: "row spread" },
        h("h2", {}, `${count(rows.length)} selected`),
        h(
          "div",
          { class: "row" },
          ...Object.keys(KINDS).map((kind) => h("button", { type: "button", class: "small", on: { click: exported(kind) } }, `Save as ${kind}`)),
          h("button", { type: "button", class: "quiet small", on: { click: clear } }, "Clear"),
        ),
      ),
      classes(values, legend, selected),
      listed,
      h("p", { class: "soft" }, `The file has all of them, with places on the map${neighbours ? " and the 10 nearest items of each" : "; neighbours are left out, as there are too many"}.`),
    ),
  );
  await during(listed, async () => {
    // Of the map's own state of the collection: rows of a later one are other items.
    const { items } = await api.post("v1/map/export", { positions: rows.slice(0, SHOWN), neighbours: 0, version });
    fill(listed, table(facts, items, rows.length));
  });
}
