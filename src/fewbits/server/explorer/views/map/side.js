// Beside the map: how far to trust it, the legend, and one item with its neighbours.
import { shareBar } from "../../lib/charts.js";
import { count, h, percent, plural } from "../../lib/dom.js";
import { itemCard, itemName } from "../../lib/items.js";

export function trustCard(facts) {
  const { share, interval, by_chance: byChance, k, n_sampled: sampled } = facts.trust;
  const [low, high] = interval.map((bound) => percent(bound, 1));
  const range = low === high ? "" : `${low} to ${high}, `; // as where all items were sampled
  const hidden = facts.n_items - facts.n_points;
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "How far to trust it"),
    h("p", { class: "figure" }, percent(share, 0), h("small", { class: "soft" }, k === 1 ? " of the nearest ones are kept" : ` of the ${k} nearest are kept`)),
    shareBar(share, { low: interval[0], high: interval[1] }),
    h(
      "p",
      { class: "soft" },
      `${k === 1 ? `The nearest code is the nearest point for ${percent(share, 0)} of items` : `Of the ${k} items with the nearest codes, ${percent(share, 0)} are among the ${k} nearest points`} (${range}from ${plural(sampled, "item")}; ${byChance < 0.0001 ? "under 0.01 %" : percent(byChance, byChance < 0.01 ? 2 : 0)} by chance). `,
      "A plane cannot hold all distances: click a point for its true neighbours, and colour by neighbours kept to see where the map is wrong.",
    ),
    hidden > 0 && h("p", { class: "soft" }, `${count(facts.n_points)} of ${plural(facts.n_items, "item")} are on the map; neighbours come from all of them.`),
  );
}

/** Of a map that is older than the collection. */
export function earlierCard() {
  return h(
    "section",
    { class: "card" },
    h("p", {}, "The collection has changed since this map was made; the next one is being made."),
    h("button", { type: "button", class: "small", on: { click: () => location.reload() } }, "Load the newest map"),
  );
}

const named = (value) => (value === null || value === "" ? "(none)" : String(value));

/** `choose(value)` shows one class alone, or all again. */
export function legendCard(legend, title, chosen, choose) {
  if (legend.kind === "scale") {
    const { low, high, unit, steps } = legend.scale;
    const bits = (value) => Math.round(low + ((high - low) * value) / 253);
    const ends = unit === "bits" ? [`up to ${bits(steps[0])} bits`, `${bits(steps[2])} bits and more`] : [percent(low, 0), percent(high, 0)];
    return h(
      "section",
      { class: "card" },
      h("h2", {}, title),
      h("div", { class: "ramp", "aria-hidden": "true" }),
      h("p", { class: "row spread soft" }, h("span", {}, ends[0]), h("span", {}, ends[1])),
      h("p", { class: "soft" }, unit === "bits" ? "Bits that differ: bright points are near." : "Share of true neighbours that the map keeps around a point: bright points lie most."),
    );
  }
  const entry = (value, text, n, kind) =>
    h(
      "li",
      {},
      h(
        "button",
        { class: "quiet entry", type: "button", "aria-pressed": String(chosen === value), on: { click: () => choose(chosen === value ? null : value) } },
        h("span", { class: `dot ${kind}`, "aria-hidden": "true" }),
        h("span", { class: "name", title: text }, text),
        h("span", { class: "soft number" }, count(n)),
      ),
    );
  const entries = legend.legend.map(({ label, count: n }, value) =>
    entry(value, legend.kind === "bit" ? (legend.names?.[value] ? `${label}: ${legend.names[value]}` : String(label)) : named(label), n, `class-${value}`),
  );
  if (legend.rest) entries.push(entry(254, `${count(legend.rest.n_classes)} other classes`, legend.rest.count, "class-rest"));
  if (legend.n_missing) entries.push(entry(255, "no class", legend.n_missing, "class-rest"));
  return h("section", { class: "card" }, h("h2", {}, title), h("ul", { class: "legend" }, ...entries));
}

/** An item and its true neighbours; `hover(row)` marks one of them on the map. */
export function itemSection({ facts, address }, map, found, { show, hover, close, measure }) {
  const { item, neighbours } = found;
  const off = neighbours.filter((each) => !each.on_map).length;
  return h(
    "section",
    { class: "card chosen" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Item"),
      h("button", { class: "quiet small", type: "button", on: { click: close } }, "Close"),
    ),
    itemCard(facts, item, { href: address.link("search", { id: item.id }) }),
    h(
      "p",
      { class: "soft" },
      item.place === null ? "Not on the map. " : `Around here the map keeps ${percent(item.trust, 0)} of true neighbours. `,
    ),
    h("button", { class: "small", type: "button", on: { click: measure } }, "Colour by distance from it"),
    h("h3", {}, `Nearest codes of all ${count(map.n_items)} items`),
    off > 0 && h("p", { class: "soft" }, `${off} of ${neighbours.length} are not on the map.`),
    h(
      "ol",
      { class: "near", tabindex: "0", "aria-label": "Nearest items" },
      ...neighbours.map((each) =>
        h(
          "li",
          { on: { mouseenter: () => hover(each.row), mouseleave: () => hover(null) } },
          h("span", { class: "soft number", title: "bits that differ" }, String(each.distance)),
          itemCard(facts, each),
          each.on_map
            ? h("button", { class: "quiet small", type: "button", "aria-label": `Show ${itemName(facts, each.id, each.columns)} on the map`, on: { click: () => show(each.row), focus: () => hover(each.row), blur: () => hover(null) } }, "Show")
            : h("span", { class: "chip tag" }, "not on the map"),
        ),
      ),
    ),
  );
}
