// What was said of items: good or bad, kept in the address.
import { count, h } from "../lib/dom.js";
import { itemCard, itemLine, itemName } from "../lib/items.js";
import { stringify } from "../lib/json.js";
import { csv, save } from "../lib/save.js";

/** What has been said so far: two sets of ids, and the items that were seen. */
export class Judgements {
  constructor(address) {
    this.address = address;
    this.good = new Set(address.ids("good"));
    this.bad = new Set(address.ids("bad"));
    this.seen = new Map();
  }

  judge(id, side) {
    const [own, other] = side === "good" ? [this.good, this.bad] : [this.bad, this.good];
    other.delete(id);
    if (!own.delete(id)) own.add(id);
    this.keep();
  }

  clear() {
    this.good.clear();
    this.bad.clear();
    this.keep();
  }

  keep() {
    const list = (ids) => (ids.size ? stringify([...ids]) : null);
    this.address.set({ good: list(this.good), bad: list(this.bad) });
  }
}

export function candidate(context, item, judgements, judged) {
  const { facts, address } = context;
  const name = itemName(facts, item.id, item.columns);
  const button = (side, text) =>
    h(
      "button",
      {
        type: "button",
        class: side,
        "aria-pressed": String(judgements[side].has(item.id)),
        "aria-label": `${text}: ${name}`,
        data: { id: String(item.id), side },
        on: { click: () => judged(item.id, side) },
      },
      text,
    );
  return h(
    "li",
    {},
    itemCard(facts, item, { href: address.link("search", { id: item.id }) }),
    h(
      "div",
      { class: "judge" },
      item.score !== undefined &&
        h("span", { class: "fit soft number", title: "score" }, item.score.toFixed(2)),
      button("good", "Good"),
      button("bad", "Bad"),
    ),
  );
}

export function marked(context, judgements, side, judged) {
  const ids = [...judgements[side]];
  const title = side === "good" ? "Good" : "Bad";
  return h(
    "section",
    {},
    h("h3", {}, `${title} (${count(ids.length)})`),
    h(
      "ul",
      { class: "marked-items" },
      ...ids.map((id) =>
        h(
          "li",
          {},
          itemLine(context.facts, id, judgements.seen.get(id)?.columns),
          h(
            "button",
            {
              class: "quiet",
              type: "button",
              "aria-label": `Forget item ${id}`,
              on: { click: () => judged(id, side) },
            },
            "×",
          ),
        ),
      ),
    ),
  );
}

export function exported(context, judgements, hits) {
  const names = context.facts.columns.map(({ name }) => name);
  const known = [...judgements.good, ...judgements.bad].map((id) => [
    id,
    judgements.good.has(id) ? "good" : "bad",
    "",
    ...names.map((name) => judgements.seen.get(id)?.columns[name]),
  ]);
  const found = hits.map((hit) => [
    hit.id,
    "found",
    hit.score,
    ...names.map((name) => hit.columns[name]),
  ]);
  save("more-like-this.csv", csv(["_id", "_judgement", "_score", ...names], [...known, ...found]));
}
