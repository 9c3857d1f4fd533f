// The hits of a search, one below another, so that their bits line up.
import { bitOf, differing, fromHex } from "../lib/codes.js";
import { count, fill, h, plural } from "../lib/dom.js";
import { classColumn, itemCard } from "../lib/items.js";
import { allBits, sideName } from "../lib/names.js";
import { empty, warning } from "../lib/notes.js";
import { classColours } from "../lib/palette.js";
import { strip } from "../lib/strip.js";

const METRICS = {
  hamming: "distance in bits",
  euclidean: "Euclidean distance of vectors",
  asymmetric: "asymmetric distance",
};
const SHOWN = 12;

function note(facts, result) {
  if (!result.out_of_distribution) return null;
  return warning(
    h("b", {}, "Nothing here is like this. "),
    `Even the nearest item is ${result.hits[0].distance} bits away; the collection's own ` +
      `items have a neighbour within ${facts.novelty_radius} bits.`,
  );
}

function distanceOf(hit, metric) {
  const digits = metric === "hamming" ? 0 : 3;
  return h(
    "div",
    { class: "distance" },
    h("b", {}, hit.distance.toFixed(digits)),
    h("span", { class: "unseen" }, METRICS[metric]),
  );
}

/** The bits in which a hit differs, and those named ones in which it agrees. */
function explanation(context, query, code, bits) {
  const { address } = context;
  const differ = new Set(differing(query, code, bits.length));
  const chip = (bit) => {
    const [asked, own] = [bitOf(query, bit), bitOf(code, bit)];
    const side = (value) => {
      const name = sideName(bits[bit], value);
      return name ? `${value} (${name})` : String(value);
    };
    const text = asked === own ? side(own) : `${side(asked)} → ${side(own)}`;
    return h("li", {}, h("a", { href: address.link("bits", { bit }) }, `bit ${bit}`), ` ${text}`);
  };
  const named = bits.filter((bit) => bit.names.some(Boolean) || bit.proposed?.some(Boolean));
  const agree = named.filter(
    ({ bit }) => !differ.has(bit) && sideName(bits[bit], bitOf(code, bit)),
  );
  const list = (title, members) =>
    h(
      "div",
      {},
      h("h3", {}, `${title} (${count(members.length)})`),
      h("ul", { class: "meanings" }, ...members.slice(0, SHOWN).map(chip)),
      members.length > SHOWN && h("p", { class: "soft" }, `and ${members.length - SHOWN} more`),
    );
  return [
    list("Differ", [...differ]),
    list(
      "Agree, with a name",
      agree.map(({ bit }) => bit),
    ),
  ];
}

function why(context, query, hit) {
  const details = h("details", { class: "why" }, h("summary", {}, "Which bits?"));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const box = h(
      "div",
      { class: "even meaning" },
      h("p", { class: "soft" }, "Reading the names of bits …"),
    );
    details.append(box);
    const { bits } = await allBits();
    fill(box, explanation(context, query, fromHex(hit.code), bits));
  });
  return details;
}

/** Bits in the order in which hits disagree with the query most. */
function byDisagreement(query, codes, nBits) {
  const wrong = Array.from({ length: nBits }, (_, bit) =>
    codes.reduce((sum, code) => sum + (bitOf(code, bit) !== bitOf(query, bit)), 0),
  );
  return Array.from(wrong.keys()).sort((a, b) => wrong[b] - wrong[a] || a - b);
}

function sorter(list, query, codes, nBits) {
  const button = h(
    "button",
    { class: "small", type: "button", "aria-pressed": "false" },
    "Sort bits by disagreement",
  );
  button.addEventListener("click", () => {
    const sorted = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(sorted));
    const order = sorted ? byDisagreement(query, codes, nBits) : null;
    for (const canvas of list.querySelectorAll(".strip")) {
      canvas.dispatchEvent(new CustomEvent("reorder", { detail: order }));
    }
  });
  return button;
}

/** How many items could be found. */
const searched = (result, facts) =>
  result.histogram ? result.histogram.reduce((sum, n) => sum + n, 0) : facts.n_items;

/** The hits of the only query of an answer. */
export function hitList(context, found, took, filter) {
  const { facts, address, signal } = context;
  const [result] = found.results;
  if (!result.hits.length) return [empty("No item meets the condition.")];
  const label = classColumn(facts);
  const colour = label && classColours(result.hits.map((hit) => hit.columns[label]));
  const asked = result.code ? fromHex(result.code) : null;
  const codes = result.hits.filter((hit) => hit.code).map((hit) => fromHex(hit.code));
  const nBits = facts.n_bits;
  const list = h("ol", { class: "hits" });
  if (asked) {
    list.append(
      h(
        "li",
        { class: "asked" },
        h("div", { class: "distance" }, h("span", { class: "soft" }, "query")),
        h("div", {}, strip({ code: asked, nBits, signal })),
      ),
    );
  }
  result.hits.forEach((hit) => {
    list.append(
      h(
        "li",
        {},
        distanceOf(hit, found.metric),
        h(
          "div",
          {},
          itemCard(facts, hit, { colour, href: address.link("search", { id: hit.id }) }),
          asked && hit.code && strip({ code: fromHex(hit.code), against: asked, nBits, signal }),
          asked && hit.code && why(context, asked, hit),
        ),
      ),
    );
  });
  return [
    note(facts, result),
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        { class: "soft" },
        `${count(result.hits.length)} nearest of ${plural(searched(result, facts), filter ? "matching item" : "item")} · ${METRICS[found.metric]} · ${took.toFixed(0)} ms`,
      ),
      h(
        "div",
        { class: "row" },
        h("span", { class: "key" }, h("i", { class: "agree" }), "agrees"),
        h("span", { class: "key" }, h("i", { class: "differ" }), "differs"),
        asked && codes.length > 1 && sorter(list, asked, codes, nBits),
      ),
    ),
    list,
  ];
}
