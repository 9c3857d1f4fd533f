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
  scores: "scores of the bits that differ",
};
const SHOWN = 12;

/** Told where even the nearest item is beyond the novelty radius, however hits are ranked. */
function note(facts, found, filter) {
  const nearest = found.histograms[0].findIndex(Boolean);
  const isFar = !filter && facts.novelty_radius !== null && nearest > facts.novelty_radius;
  if (!(found.out_of_distribution?.[0] ?? isFar)) return null;
  return warning(
    h("b", {}, "Nothing here is like this. "),
    `Even the nearest item is ${found.metric === "hamming" ? found.hits[0][0].distance : nearest} bits away; the collection's own ` +
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

function why(context, query, code) {
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
    fill(box, explanation(context, query, code, bits));
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

/** The hits of the only query of an answer, below the `item` that it is, if it is one. */
export function hitList(context, found, { took, filter, item }) {
  const { facts, address, signal } = context;
  const [hits] = found.hits;
  if (!hits.length) return [empty(filter ? "No item meets the condition." : "There is no other item.")];
  const label = classColumn(facts);
  const colour = label && classColours(hits.map((hit) => hit.columns[label]));
  const asked = fromHex(found.codes[0]);
  const codes = hits.map((hit) => fromHex(hit.code));
  const nBits = facts.n_bits;
  const searched = found.histograms[0].reduce((sum, n) => sum + n, 0);
  const list = h(
    "ol",
    { class: "hits" },
    h(
      "li",
      { class: "asked" },
      h("div", { class: "distance" }, h("span", { class: "soft" }, "query")),
      h("div", {}, item && itemCard(facts, item), strip({ code: asked, nBits, signal })),
    ),
  );
  hits.forEach((hit, i) => {
    list.append(
      h(
        "li",
        {},
        distanceOf(hit, found.metric),
        h(
          "div",
          {},
          itemCard(facts, hit, { colour, href: address.link("search", { id: hit.id }) }),
          strip({ code: codes[i], against: asked, nBits, signal }),
          why(context, asked, codes[i]),
        ),
      ),
    );
  });
  return [
    note(facts, found, filter),
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        { class: "soft" },
        `${count(hits.length)} nearest of ${plural(searched, filter ? "matching item" : "item")} · ${METRICS[found.metric]} · ${took.toFixed(0)} ms`,
      ),
      h(
        "div",
        { class: "row" },
        h("span", { class: "key" }, h("i", { class: "agree" }), "agrees"),
        h("span", { class: "key" }, h("i", { class: "differ" }), "differs"),
        codes.length > 1 && sorter(list, asked, codes, nBits),
      ),
    ),
    list,
  ];
}
