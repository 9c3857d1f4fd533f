// Beside the map: items far from all others, and those among items of another class.
import { count, fill, h } from "../../lib/dom.js";
import { itemLine } from "../../lib/items.js";
import { during } from "../../lib/notes.js";

function list(facts, items, told, show) {
  const entry = (item) =>
    h(
      "li",
      {},
      h(
        "button",
        { class: "quiet", type: "button", on: { click: () => show(item.row) } },
        h("span", { class: "name" }, itemLine(facts, item.id, item.columns)),
        h("span", { class: "soft" }, told(item)),
      ),
    );
  return h("ul", { class: "outliers" }, ...items.map(entry));
}

function card(facts, found, column, show) {
  const { outliers, confusions, usual, k, n_points: looked } = found;
  const far = ({ distance }) => `${distance} bits from the nearest`;
  const among = (item) => `${item.votes} of ${k} nearest are ${item.other}; it is ${item.class}`;
  return h(
    "section",
    { class: "card", "aria-label": "Outliers and confusions" },
    h("h2", {}, "Outliers"),
    h("p", { class: "soft" }, `95 % of items have another within ${usual} bits${outliers.length ? "; these are farthest from any:" : ", and none is farther."}`),
    list(facts, outliers, far, show),
    confusions && [
      h("h2", {}, "Confusions"),
      h("p", { class: "soft" }, confusions.length ? `Most of the ${k} nearest codes are of another ${column}:` : `Of no item are most of the ${k} nearest codes of another ${column}.`),
      list(facts, confusions, among, show),
    ],
    looked < facts.n_items && h("p", { class: "soft" }, `Of ${count(looked)} items, drawn at random.`),
  );
}

/** Returns a function that lists them in `box` by a column of classes, or null. */
export function outlierLists({ api, facts }, map, box, show) {
  let shown;
  return (column) => {
    if (column === shown) return;
    shown = column;
    const labels = column === null ? "" : `labels=${encodeURIComponent(column)}&`;
    during(box, async (mine) => {
      const found = await api.get(`v1/map/outliers?${labels}version=${map.version}`, mine);
      fill(box, card(facts, found, column, show));
    });
  };
}
