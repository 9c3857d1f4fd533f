// Beside the map: items far from all others, and those among items of another class.
import { count, fill, h, plural } from "../../lib/dom.js";
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
  const { outliers, confusions, nearest_distance_p95: p95, k, n_points: looked } = found;
  const far = ({ distance }) => `${plural(distance, "bit")} from the nearest`;
  const among = (item) => `${item.votes} of ${k} nearest are ${item.other}; it is ${item.class}`;
  const most = k === 1 ? "its nearest neighbour" : `most of its ${plural(k, "nearest neighbour")}`;
  return h(
    "section",
    { class: "card", "aria-label": "Outliers and confusions" },
    h("h2", {}, "Outliers"),
    h("p", { class: "soft" }, `For 95 % of items the nearest other item is within ${plural(p95, "bit")}; ${outliers.length ? "the farthest:" : "none is farther."}`),
    list(facts, outliers, far, show),
    confusions && [
      h("h2", {}, "Confusions"),
      h("p", { class: "soft" }, confusions.length ? `Each has ${most} in another ${column}:` : `No item has ${most} in another ${column}.`),
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
    const label = column === null ? "" : `label=${encodeURIComponent(column)}&`;
    during(box, async (mine) => {
      const found = await api.get(`v1/map/outliers?${label}version=${map.version}`, mine);
      fill(box, card(facts, found, column, show));
    });
  };
}
