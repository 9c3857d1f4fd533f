// Can I trust this collection?
import { shareBar } from "../lib/charts.js";
import { bytes, count, fill, h, noun, percent, plural, sentence } from "../lib/dom.js";
import { busy, during, failure } from "../lib/notes.js";

const SEARCHES = {
  hamming: "Codes alone (Hamming)",
  scores: "Re-ranked by scores of the query",
  euclidean: "Re-ranked by kept vectors",
};

function card(title, ...content) {
  return h("section", { class: "card" }, h("h2", {}, title), ...content);
}

function figures(entries) {
  return h(
    "dl",
    { class: "figures" },
    ...entries.map(([value, name]) => h("div", {}, h("dd", {}, value), h("dt", {}, name))),
  );
}

function recallTable(found) {
  if (!found.estimates.length) return h("p", { class: "soft" }, sentence(`not estimated: ${found.reason}`));
  const [{ k, n_queries: queries, confidence }] = found.estimates;
  const truth =
    found.truth === "vectors" ? "the kept vectors" : `the ${found.truth}, embedded again`;
  return [
    h(
      "table",
      { class: "recall" },
      h(
        "caption",
        {},
        `Share of the ${k} true neighbours among the first ${k} answers. Ground truth: exact search on ${truth}.`,
      ),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Way of searching"),
          h("th", { scope: "col", class: "number" }, `Recall@${k}`),
          h("th", { scope: "col", class: "number" }, `${percent(confidence, 0)} interval`),
        ),
      ),
      h(
        "tbody",
        {},
        ...found.estimates.map((each) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              h("span", { class: "ink" }, SEARCHES[each.search]),
              each.shortlist && h("span", {}, ` shortlist of ${count(each.shortlist)}`),
              shareBar(each.recall, { low: each.low, high: each.high }),
            ),
            h("td", { class: "number" }, h("b", {}, percent(each.recall))),
            h("td", { class: "number" }, `${percent(each.low)} – ${percent(each.high)}`),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "soft" },
      `${plural(queries, "item")} of the collection ${queries === 1 ? "was" : "were"} drawn as queries, each left out of its own answers. Items that the encoder learnt from do better than new ones.`,
    ),
  ];
}

/** Of damaged codes, numbers are unknown. */
const known = (number) => (number === null ? "–" : count(number));

function bitsCard(found, address) {
  return card(
    "Bits",
    figures([
      [count(found.n_bits), noun(found.n_bits, "bit")],
      [known(found.n_dead_bits), "dead"],
      [found.effective_bits === null ? "–" : found.effective_bits.toFixed(1), "effective bits"],
    ]),
    found.warnings.length
      ? h("ul", { class: "concerns" }, ...found.warnings.map((text) => h("li", {}, sentence(text))))
      : h("p", { class: "soft" }, "Nothing deserves attention."),
    h(
      "p",
      { class: "soft" },
      `Effective bits: how many independent ones would spread as much, on ${plural(found.n_sample, "code")}. `,
      h("a", { href: address.link("bits") }, "Look at the bits"),
      ".",
    ),
  );
}

const perItem = (each) => (each < 0.1 ? "" : `${each.toFixed(1)} B per item`);
const shade = (name, i) => (name === "codes" ? "part-codes" : `part-${Math.min(i, 5)}`);

function bytesCard(found) {
  const parts = Object.entries(found.bytes)
    .filter(([, size]) => size > 0)
    .sort((a, b) => b[1] - a[1]);
  const all = parts.reduce((sum, [, size]) => sum + size, 0);
  return card(
    `${bytes(all)} on ${found.version === null ? "the heap" : "disk"}`,
    h(
      "div",
      { class: "stacked", "aria-hidden": "true" },
      ...parts.map(([name, size], i) =>
        h("i", { class: shade(name, i), vars: { "--part": String(size / all) } }),
      ),
    ),
    h(
      "table",
      {},
      h(
        "thead",
        { class: "unseen" },
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Component"),
          h("th", { scope: "col" }, "Bytes"),
          h("th", { scope: "col" }, "Bytes per item"),
        ),
      ),
      h(
        "tbody",
        {},
        ...parts.map(([name, size], i) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              h("span", { class: "chip" }, h("span", { class: `dot ${shade(name, i)}` }), name),
            ),
            h("td", { class: "number" }, bytes(size)),
            h("td", { class: "number soft" }, found.n_items ? perItem(size / found.n_items) : ""),
          ),
        ),
      ),
    ),
  );
}

function rowsCard(found, address) {
  const dead = found.n_dead_rows;
  return card(
    "Rows",
    figures([
      [count(found.n_items), noun(found.n_items, "item")],
      [count(dead), noun(dead, "dead row")],
      [count(found.n_segments), noun(found.n_segments, "segment")],
      [count(found.n_files), noun(found.n_files, "file")],
    ]),
    h(
      "p",
      { class: "soft" },
      dead
        ? `Deleted rows take ${percent(dead / (dead + found.n_items))} of the rows on disk; they go by themselves, or at once with “fewbits compact”.`
        : "No deleted row takes space.",
      found.version !== null && ` This is version ${found.version} of the collection.`,
    ),
    h(
      "p",
      { class: "soft" },
      found.n_distinct !== null &&
        `${plural(found.n_distinct, "different code")} among ${plural(found.n_sample, "item")}; ${found.n_shared ? count(found.n_shared) : "none"} ${found.n_shared === 1 ? "shares its code" : "share theirs"} with another. `,
      h("a", { href: address.link("duplicates") }, "Look at the duplicates"),
      ".",
    ),
  );
}

function verifiedText(last, version) {
  if (!last)
    return [h("p", {}, h("span", { class: "state" }, "Not verified yet"))];
  const when = new Date(1000 * last.at).toLocaleString("en-GB");
  if (last.intact) {
    const isOld = version !== null && last.number !== null && last.number !== version;
    const ofVersion = isOld ? `of version ${last.number}, not of this, matched` : "matches";
    return [
      h("p", {}, h("span", { class: "state good" }, `Every byte ${ofVersion} its checksum`)),
      h(
        "p",
        { class: "soft" },
        `${plural(last.n_rows, "row")} in ${bytes(last.n_bytes)}, on ${when}, in ${last.seconds.toFixed(2)} s.`,
      ),
    ];
  }
  const n = last.damages.length;
  const found = n ? `${plural(n, "part is", "parts are")} damaged` : "Some files could not be read";
  const problems = [...last.damages.map((damage) => damage.text), ...last.unreadable];
  return [
    h("p", {}, h("span", { class: "state bad" }, found)),
    h("ul", { class: "concerns" }, ...problems.slice(0, 20).map((text) => h("li", {}, text))),
    h("p", { class: "soft" }, `On ${when}. “fewbits verify --repair” keeps every intact row.`),
  ];
}

function verifyCard(context, last, version) {
  const { api, announce } = context;
  const result = h("div", { "aria-live": "polite" }, verifiedText(last, version));
  const button = h("button", { type: "button" }, "Verify now");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await api.post("v1/verify", {});
      fill(result, verifiedText(found, version));
      announce(found.intact ? "Everything is intact." : "Something is damaged.");
    } catch (error) {
      fill(result, failure(error));
    }
    button.disabled = false;
    button.focus();
  });
  return card("Files", result, h("p", { class: "row action" }, button));
}

export const view = {
  name: "health",
  title: "Health",
  question: "Can I trust this collection?",
  needs: 1,

  async mount(root, context) {
    const { api, address } = context;
    const recall = h(
      "div",
      {},
      busy("Comparing searches with the exact neighbours; this takes a few seconds …"),
    );
    const board = h("div", { class: "board" }, busy("Measuring bits and bytes …"));
    root.append(board);
    await during(board, async () => {
      const found = await api.get("v1/quality");
      const wide = card("Recall", recall);
      wide.classList.add("wide");
      fill(
        board,
        wide,
        h("div", { class: "stack" }, bitsCard(found, address), rowsCard(found, address)),
        h("div", { class: "stack" }, bytesCard(found), verifyCard(context, found.last_verify, found.version)),
      );
    });
    await during(recall, async () => fill(recall, recallTable(await api.get("v1/quality/recall"))));
  },
};
