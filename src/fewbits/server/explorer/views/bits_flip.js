// The code of an item, bit by bit: flip some, and its neighbours follow.
import { fillIn, valueOf } from "../lib/asking.js";
import { bitOf, flipped, fromHex, toHex } from "../lib/codes.js";
import { fill, h, plural } from "../lib/dom.js";
import { field } from "../lib/fields.js";
import { lineLength, roving } from "../lib/grid.js";
import { itemCard, itemName, parseId } from "../lib/items.js";
import { sideName } from "../lib/names.js";
import { failure } from "../lib/notes.js";
import { latest } from "../lib/api.js";

const K = 8;
const MOST = 4096; // bits that are shown: a page with more of them is slow

function flipsIn(address, nBits) {
  const given = address.get("flips", "").split(".").filter(Boolean);
  const last = Math.min(nBits, MOST) - 1;
  const isBit = (each) => /^\d{1,9}$/.test(each) && Number(each) <= last;
  if (given.every(isBit)) return new Set(given.map(Number));
  address.refuse("flips", `flips are bits from 0 to ${last}, with points between them`);
  return new Set();
}

function neighbours(context, hits, before, took) {
  const { facts, address } = context;
  return [
    h("h3", {}, `Neighbours of this code `, h("small", {}, `${took.toFixed(0)} ms`)),
    h(
      "ol",
      { class: "near" },
      ...hits.map((hit) => {
        const isNew = before !== null && !before.has(hit.id);
        return h(
          "li",
          { class: isNew ? "fresh" : "" },
          h("b", { class: "number" }, String(hit.distance)),
          itemCard(facts, hit, { href: address.link("search", { id: hit.id }) }),
          isNew && h("span", { class: "unseen" }, "new among the neighbours"),
        );
      }),
    ),
  ];
}

/** Fills `root` with the panel. */
export function flipper(root, context, bits) {
  const { facts, address, api, announce } = context;
  const flips = flipsIn(address, facts.n_bits);
  const [ask, askItem] = [latest(), latest()];
  let item = null;
  let before = null;

  const input = h("input", { autocomplete: "off", spellcheck: "false" });
  const about = h("div", {});
  const grid = h("div", {
    class: bits.length > 512 ? "codegrid dense" : "codegrid",
    role: "group",
    "aria-label": "Bits of the code; arrow keys move, space flips",
  });
  const list = h("div", { class: "flipped" });
  const reset = h(
    "button",
    { class: "quiet", type: "button", disabled: true, on: { click: () => flip([...flips]) } },
    "Undo flips",
  );

  const code = () => [...flips].reduce(flipped, fromHex(item.code));

  const label = (cell, bit, value) => {
    const name = sideName(bits[bit], value);
    cell.setAttribute("aria-pressed", String(value === 1));
    cell.classList.toggle("flip", flips.has(bit));
    const text = `bit ${bit}${name ? `, ${name}` : ""}: ${value}${flips.has(bit) ? ", flipped" : ""}`;
    cell.setAttribute("aria-label", text);
    cell.title = text;
  };

  const follow = async () => {
    const started = performance.now();
    try {
      const found = await ask((signalOfThis) =>
        api.post("v1/search", { codes: [toHex(code())], k: K }, signalOfThis),
      );
      const [hits] = found.hits;
      fill(list, neighbours(context, hits, before, performance.now() - started));
      announce(
        `${plural(hits.length, "neighbour")}; the nearest is ${itemName(facts, hits[0].id, hits[0].columns)}, ${plural(hits[0].distance, "bit")} away.`,
      );
      before = new Set(hits.map((hit) => hit.id));
    } catch (error) {
      if (error.name !== "AbortError") fill(list, failure(error));
    }
    // When the neighbours were painted: what the benchmark waits for.
    requestAnimationFrame(() => root.dispatchEvent(new CustomEvent("followed")));
  };

  const flip = (which) => {
    for (const bit of which) {
      if (flips.has(bit)) flips.delete(bit);
      else flips.add(bit);
    }
    const now = code();
    for (const bit of which) label(grid.children[bit], bit, bitOf(now, bit));
    address.set({ item: item.id, flips: [...flips].join(".") || null });
    reset.disabled = !flips.size;
    return follow();
  };

  const take = async (question, taken = () => {}) => {
    try {
      const { items } = await askItem((mine) => api.post("v1/items", question, mine));
      [item] = items;
    } catch (error) {
      if (error.name !== "AbortError") fill(list, failure(error));
      return;
    }
    taken();
    fillIn(input, String(item.id));
    before = null;
    const now = code();
    fill(about, itemCard(facts, item));
    fill(
      grid,
      bits.slice(0, MOST).map(({ bit }) => {
        const cell = h("button", {
          type: "button",
          class: "cell",
          tabindex: "-1",
          on: { click: () => flip([bit]) },
        });
        label(cell, bit, bitOf(now, bit));
        return cell;
      }),
    );
    roving(grid, () => lineLength(grid));
    reset.disabled = !flips.size;
    await follow();
  };

  const other = (question) =>
    take(question, () => {
      flips.clear();
      address.set({ item: item.id, flips: null });
    });
  const random = () => ({ positions: [Math.floor(Math.random() * facts.n_items)] });

  root.append(
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Flip bits"),
      h("p", { class: "soft" }, "Change bits of an item's code, and see whose code that is."),
      h(
        "form",
        {
          class: "row pick",
          on: {
            submit: (event) => {
              event.preventDefault();
              other({ ids: [parseId(facts, valueOf(input))] });
            },
          },
        },
        field("Id of an item", input, { class: "field wide" }),
        h("button", { type: "submit" }, "Take"),
        h("button", { type: "button", on: { click: () => other(random()) } }, "Any"),
      ),
      about,
      grid,
      h(
        "div",
        { class: "row spread" },
        h("span", { class: "key" }, h("i", { class: "hot" }), "flipped"),
        reset,
      ),
      list,
    ),
  );
  const start = address.get("item");
  take(start === null ? { positions: [0] } : { ids: [parseId(facts, start)] });
}
