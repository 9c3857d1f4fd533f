// Is this new? The nearest item, a threshold, and what the threshold accepts wrongly.
import { askAbout, kindsOf, queryIn, queryInput, queryOf, titleOf } from "../lib/asking.js";
import { fill, h, percent } from "../lib/dom.js";
import { choice, field } from "../lib/fields.js";
import { classColumns, itemCard, itemName } from "../lib/items.js";
import { during, empty, failure } from "../lib/notes.js";
import { classOf } from "./teach_class.js";
import { basis, thresholdCard } from "./teach_threshold.js";

const RATES = ["0.01", "0.05", "0.1", "0.2"];

function verdict(state, facts) {
  const [nearest] = state.hits;
  const name = itemName(facts, nearest.id, nearest.columns);
  if (state.threshold === null) {
    return h("p", { role: "status" }, `The nearest item is ${state.distance} bits away: ${name}.`);
  }
  const isNew = state.distance > state.threshold;
  return h(
    "div",
    { class: `verdict ${isNew ? "new" : "known"}`, role: "status" },
    h("b", {}, isNew ? "This is new." : "This is known."),
    h(
      "p",
      {},
      `The nearest item is ${state.distance} bits away, ${isNew ? "beyond" : "within"} the threshold of ${state.threshold}: ${name}.`,
    ),
  );
}

/** Shares by threshold; without those of unknown items, and why, where they cannot be told. */
async function ratesBy(api, label, signal) {
  if (!label) return api.get("v1/novelty", signal);
  try {
    return await api.get(`v1/novelty?label=${encodeURIComponent(label)}`, signal);
  } catch (error) {
    if (error.status !== 422) throw error;
    return { ...(await api.get("v1/novelty", signal)), reason: error.message };
  }
}

/** Fills `root`: a query, the verdict, the threshold. */
export async function isNew(root, context) {
  const { facts, address, api } = context;
  const kinds = kindsOf(facts).filter((kind) => kind !== "code");
  const query = queryIn(address, facts);
  const kind = query?.kind ?? kinds[0];
  const input = queryInput(kind, query?.text ?? "");
  const own = classColumns(facts);
  const by = address.oneOf("by", facts.columns.map(({ name }) => name), own[0] ?? "");
  const labels = choice(
    ["", ...new Set(by ? [...own, by] : own)].map((name) => [name, name || "none"]),
    by,
  );
  const given = address.share("rate", "0.05");
  const rate = choice(
    [...new Set([...RATES, given])].sort().map((each) => [each, percent(Number(each), each.length > 4 ? 1 : 0)]),
    given,
  );
  const main = h(
    "section",
    { "aria-label": "Verdict" },
    empty("Give an item, and see whether the collection knows anything like it."),
  );
  const side = h("div", {});
  const state = {
    threshold: address.whole("threshold", null, 0, facts.n_bits), // else the proposed one
    distance: null,
    hits: [],
  };
  const told = h("div", {});
  let rates = null;
  let measured = null; // ends when the newest rates are there

  const judge = () => {
    address.set({ threshold: state.threshold });
    if (state.distance !== null) fill(told, verdict(state, facts));
  };
  const showThreshold = () =>
    fill(
      side,
      h(
        "section",
        { class: "card" },
        h("h2", {}, "Where does new begin?"),
        ...thresholdCard(context, rates, state, judge),
        h(
          "p",
          { class: "row" },
          h("span", { class: "key" }, h("i", { class: "known" }), "known items"),
          rates.unknown &&
            h("span", { class: "key" }, h("i", { class: "unknown" }), "unknown items"),
        ),
        h("p", { class: "soft" }, basis(rates, labels)),
      ),
    );

  const measure = () => {
    measured = during(side, async (mine) => {
      rates = await ratesBy(api, labels.value, mine);
      state.threshold ??= rates.threshold;
      showThreshold();
    });
    return measured;
  };

  const ask = () =>
    during(main, async (mine) => {
      const query = queryOf(kind, input);
      if (!query.text.trim()) return;
      const asked = (path, options) => askAbout(api, path, query, facts, options, mine);
      if (kind !== "image")
        address.set({
          [kind]: query.text,
          by: labels.value || null,
          rate: rate.value === "0.05" ? null : rate.value,
        });
      // Without a threshold there is no verdict.
      const [found] = await Promise.all([asked("v1/search", { k: 5, rerank: false }), measured]);
      [state.hits] = found.hits;
      state.distance = state.hits[0]?.distance ?? null;
      fill(told, verdict(state, facts));
      const cards = h(
        "ol",
        { class: "near" },
        ...state.hits.map((hit) =>
          h(
            "li",
            {},
            h("b", { class: "number" }, String(hit.distance)),
            itemCard(facts, hit, { href: address.link("search", { id: hit.id }) }),
          ),
        ),
      );
      const classes = h("div", {});
      fill(
        main,
        h(
          "section",
          { class: "card stack" },
          told,
          h("div", {}, h("h3", {}, "Nearest items"), cards),
        ),
        classes,
      );
      if (rates) showThreshold();
      const isNew = state.distance > state.threshold;
      classOf(context, { asked, kind, label: labels.value, rate: rate.value, isNew }).then(
        (card) => card && fill(classes, card),
        (error) => error.name !== "AbortError" && fill(classes, failure(error)),
      );
    });

  labels.addEventListener("change", async () => {
    address.set({ by: labels.value || null });
    await measure();
    await ask();
  });
  root.append(
    h(
      "form",
      {
        class: "card ask",
        on: {
          submit: (event) => {
            event.preventDefault();
            ask();
          },
        },
      },
      h(
        "div",
        { class: "row pick" },
        field(`${titleOf(kind)} to judge`, input, { class: "field wide" }),
        classColumns(facts).length > 0 && field("Classes", labels),
        facts.n_classes > 0 && field("Known items rejected at most", rate),
        h("button", { class: "main", type: "submit" }, "Judge"),
      ),
    ),
    h("div", { class: "columns" }, main, side),
  );
  await measure();
  await ask();
}
