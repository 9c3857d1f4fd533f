// One group of duplicates: which of its items is kept, and how far the rest are from it.
import { latest } from "../lib/api.js";
import { differing, fromHex } from "../lib/codes.js";
import { count, fill, h } from "../lib/dom.js";
import { itemCard } from "../lib/items.js";
import { stringify } from "../lib/json.js";
import { failure } from "../lib/notes.js";

/** Which item of each group is kept: the first, unless the address has another. */
export class Keeping {
  constructor(address) {
    this.address = address;
    this.ids = new Set(address.ids("keep"));
  }

  of(group) {
    return (group.find(({ id }) => this.ids.has(id)) ?? group[0]).id;
  }

  choose(group, id) {
    for (const each of group) this.ids.delete(each.id);
    if (id !== group[0].id) this.ids.add(id);
    this.address.set({ keep: this.ids.size ? stringify([...this.ids]) : null });
  }
}

/** Writes how far the items of a group are from the one that is kept. */
async function measure({ api, facts }, group, kept, places, signal) {
  const ids = group.map(({ id }) => id);
  const { items } = await api.post("v1/items", { ids }, signal);
  const codes = new Map(items.map(({ id, code }) => [id, fromHex(code)]));
  group.forEach(({ id }, i) => {
    places[i].textContent = differing(codes.get(id), codes.get(kept), facts.n_bits).length;
  });
}

export function groupCard(context, group, size, number, keeping) {
  const { facts, address } = context;
  const ask = latest();
  const places = group.map(({ distance }) =>
    h("span", { class: "soft number", title: "bits that differ from the item to keep" }, String(distance)),
  );
  const measured = () =>
    ask((mine) => measure(context, group, keeping.of(group), places, mine)).catch((error) => {
      if (error.name !== "AbortError") fill(told, failure(error));
    });
  const told = h("div", {});
  const choose = (id) => {
    keeping.choose(group, id);
    measured();
  };
  if (keeping.of(group) !== group[0].id) measured();
  return h(
    "li",
    { class: "card" },
    h(
      "fieldset",
      {},
      h("legend", { class: "unseen" }, `Which item of group ${number + 1} to keep`),
      ...group.map((item, i) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: `group-${number}`,
            checked: item.id === keeping.of(group),
            "aria-label": `Keep item ${item.id}`,
            on: { change: () => choose(item.id) },
          }),
          places[i],
          itemCard(facts, item, { href: address.link("search", { id: item.id }) }),
        ),
      ),
      size > group.length &&
        h("p", { class: "soft" }, `The first ${group.length} of ${count(size)} items.`),
      told,
    ),
  );
}
