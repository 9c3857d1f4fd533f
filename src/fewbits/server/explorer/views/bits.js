// What does this bit mean?
import { count, fill, h, percent, plural } from "../lib/dom.js";
import { segments } from "../lib/fields.js";
import { lineLength, roving } from "../lib/grid.js";
import { allBits, sideName } from "../lib/names.js";
import { busy, during } from "../lib/notes.js";
import { bitDetail } from "./bits_detail.js";
import { flipper } from "./bits_flip.js";

const ORDERS = [
  ["number", "By number"],
  ["share", "By share"],
  ["same", "Same together"],
  ["names", "As a list"],
];

function sorted(bits, order) {
  const leader = (bit) => Math.min(bit.bit, ...bit.same_as);
  const size = (bit) => bit.same_as.length;
  const ways = {
    number: (a, b) => a.bit - b.bit,
    share: (a, b) => b.share - a.share || a.bit - b.bit,
    names: (a, b) => a.bit - b.bit,
    same: (a, b) => size(b) - size(a) || leader(a) - leader(b) || a.bit - b.bit,
  };
  return bits.toSorted(ways[order]);
}

function described(bit) {
  if (bit.dead) return `bit ${bit.bit}, dead: always ${bit.share}`;
  const names = [0, 1].map((value) => sideName(bit, value) ?? value).join(" or ");
  const same = bit.same_as.length ? `, says the same as ${bit.same_as.join(", ")}` : "";
  return `bit ${bit.bit}: ${names}; ${percent(bit.share, 0)} are 1${same}`;
}

function cell(bit, chosen, address) {
  const given = bit.names.some(Boolean);
  const kinds = ["cell", bit.dead && "dead", bit.same_as.length && "same", given && "named"];
  return h(
    "a",
    {
      class: kinds.filter(Boolean).join(" "),
      href: address.link("bits", { ...state(address), bit: bit.bit }),
      "aria-current": bit.bit === chosen ? "true" : null,
      "aria-label": described(bit),
      title: described(bit),
      tabindex: "-1",
      vars: { "--share": bit.share },
    },
    String(bit.bit),
  );
}

/** A bit on a line: what its zeros and its ones are called, and the share of ones. */
function line(bit, chosen, address) {
  const side = (value) =>
    h("span", { class: bit.names[value] ? "ink" : "soft", title: sideName(bit, value) }, sideName(bit, value) ?? "–");
  return h(
    "li",
    { class: bit.dead ? "dead" : "" },
    h(
      "a",
      {
        href: address.link("bits", { ...state(address), bit: bit.bit }),
        "aria-current": bit.bit === chosen ? "true" : null,
        "aria-label": described(bit),
      },
      String(bit.bit),
    ),
    h("span", { class: "zeros" }, side(0)),
    h("span", {
      class: "balance",
      title: `${percent(bit.share)} are 1`,
      vars: { "--share": bit.share },
    }),
    side(1),
  );
}

const state = (address) => ({
  order: address.get("order"),
  item: address.get("item"),
  flips: address.get("flips"),
});

function summary(found) {
  const dead = found.bits.filter((bit) => bit.dead).length;
  const named = found.bits.filter((bit) => bit.names.some(Boolean)).length;
  const pieces = [
    `${plural(found.bits.length, "bit")} in ${plural(found.n_groups, "group")}`,
    dead ? `${count(dead)} dead` : "none is dead",
    named ? `${count(named)} named by people` : null,
  ];
  return pieces.filter(Boolean).join(" · ");
}

function basis(found, facts) {
  const source = facts.kind === "texts" ? "texts" : "labels";
  const read = found.n_read ? `, names are from ${count(found.n_read)} ${source}` : "";
  const compared = found.n_compared
    ? `bits were compared on ${count(found.n_compared)}`
    : "codes are too long to compare all bits";
  return `Shares are of all ${count(found.n_items)} items; ${compared}${read}.`;
}

/** Links to pages that were written of this collection. */
function pages(facts) {
  const titles = {
    attributes: "Page of all attributes",
    taxonomy: "Page of the classes and their tree",
  };
  const known = Object.entries(facts.pages ?? {}).filter(([name, url]) => titles[name] && url);
  if (!known.length) return null;
  return h(
    "p",
    { class: "row more-pages" },
    ...known.map(([name, url]) => h("a", { href: url }, titles[name])),
  );
}

function overview(found, chosen, context) {
  const { address } = context;
  const grid = h("nav", { class: "bitgrid", "aria-label": "Bits" });
  const list = h("ol", {
    class: "bitlist",
    tabindex: "0",
    role: "list",
    "aria-label": "Bits with their names",
  });
  const draw = (order) => {
    grid.hidden = order === "names";
    list.hidden = !grid.hidden;
    if (grid.hidden) {
      fill(
        list,
        sorted(found.bits, order).map((bit) => line(bit, chosen, address)),
      );
      return;
    }
    fill(
      grid,
      sorted(found.bits, order).map((bit) => cell(bit, chosen, address)),
    );
    roving(grid, () => lineLength(grid));
  };
  const order = address.oneOf(
    "order",
    ORDERS.map(([name]) => name),
    "number",
  );
  const card = h(
    "section",
    { class: "card" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, summary(found)),
      segments("Order of bits", ORDERS, order, (to) => {
        address.set({ order: to === "number" ? null : to });
        draw(to);
      }),
    ),
    h(
      "p",
      { class: "soft legend" },
      basis(found, context.facts),
      " The fill is the share of ones; a dot marks a name that people gave, a line bits of a group (correlation above .5).",
    ),
    grid,
    list,
    pages(context.facts),
  );
  draw(order);
  return card;
}

export const view = {
  name: "bits",
  title: "Bits",
  question: "What does this bit mean?",
  needs: 2,

  async mount(root, context) {
    const { facts, address, api } = context;
    const top = h("div", {}, busy("Comparing bits …"));
    const detail = h("div", { class: "stack" });
    const aside = h("aside", { "aria-label": "Flip bits" });
    root.append(h("div", { class: "columns flipping" }, h("div", {}, top, detail), aside));
    const chosen = address.whole("bit", 0, 0, facts.n_bits - 1);
    const quick = await api.get("v1/bits?proposals=false");
    fill(top, overview(quick, chosen, context));
    flipper(aside, context, quick.bits);
    // Names take longer than shares: they are filled in when they are there.
    const asked = allBits();
    await during(detail, (mine) => bitDetail(detail, context, chosen, mine));
    await asked;
    const found = await allBits(); // of names that were saved meanwhile, too
    const focused = top.contains(document.activeElement);
    fill(top, overview(found, chosen, context));
    if (focused) top.querySelector('[aria-current="true"]')?.focus();
  },
};
