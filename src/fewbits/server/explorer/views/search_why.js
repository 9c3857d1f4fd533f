// Why hits are near: where they lie among all distances, and what they share.
import { histogram, shareBar } from "../lib/charts.js";
import { bitOf, fromHex } from "../lib/codes.js";
import { fill, h, percent } from "../lib/dom.js";
import { allBits, sideName } from "../lib/names.js";

const SHOWN = 8;

function distances(facts, found, asked) {
  const [counts] = found.histograms;
  if (!counts.some(Boolean)) return null;
  const radius = facts.novelty_radius;
  const hits = found.metric === "hamming" ? found.hits[0].map((hit) => hit.distance) : [];
  const far = hits.length ? Math.max(...hits) : -1;
  return h(
    "figure",
    { class: "card" },
    h("h2", {}, asked.filter ? "Distances of all matching items" : "Distances of all items"),
    histogram(counts, {
      hits,
      // Of groups, nearer items are left out.
      near: asked.group_by ? hits : far,
      marks: radius === null ? [] : [[radius, "novel beyond"]],
    }),
    h(
      "figcaption",
      {},
      "Bits that differ from the query; heights are logarithmic, hits are orange.",
    ),
  );
}

/** What the hits share with the query and the collection does not: named bits first. */
function shared(context, found, bits) {
  const asked = fromHex(found.codes[0]);
  const codes = found.hits[0].map((hit) => fromHex(hit.code));
  const rows = bits
    .filter((bit) => !bit.dead)
    .map((bit) => {
      const value = bitOf(asked, bit.bit);
      const among = codes.filter((code) => bitOf(code, bit.bit) === value).length / codes.length;
      const all = value ? bit.share : 1 - bit.share;
      return { bit: bit.bit, value, among, all, name: sideName(bit, value) };
    })
    .sort((a, b) => Boolean(b.name) - Boolean(a.name) || b.among - b.all - (a.among - a.all));
  return h(
    "table",
    {},
    h(
      "caption",
      {},
      "Share of the hits, and of the whole collection, that have the bit as the query has it.",
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Meaning"),
        h("th", { scope: "col", class: "number" }, "Hits"),
        h("th", { scope: "col", class: "number" }, "All"),
      ),
    ),
    h(
      "tbody",
      {},
      ...rows
        .slice(0, SHOWN)
        .map(({ bit, value, among, all, name }) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              h("a", { href: context.address.link("bits", { bit }) }, `bit ${bit}`),
              h("span", { class: "ink" }, ` ${name ?? `is ${value}`}`),
              shareBar(among, { low: all, high: all }),
            ),
            h("td", { class: "number" }, percent(among, 0)),
            h("td", { class: "number" }, percent(all, 0)),
          ),
        ),
    ),
  );
}

/** The cards beside the hits. */
export function whyNear(context, found, asked) {
  const parts = [distances(context.facts, found, asked)];
  if (found.hits[0].length) {
    const card = h(
      "section",
      { class: "card" },
      h("h2", {}, "What they share"),
      h("p", { class: "soft" }, "Reading the names of bits …"),
    );
    parts.push(card);
    allBits().then(
      ({ bits }) => fill(card, h("h2", {}, "What they share"), shared(context, found, bits)),
      () => card.remove(),
    );
  }
  return parts;
}
