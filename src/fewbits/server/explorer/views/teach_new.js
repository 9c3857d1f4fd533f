// Is this new? The nearest item, a threshold, and what the threshold accepts wrongly.
import { kindsOf, queryBody, queryIn, queryInput, queryOf, titleOf } from "../lib/asking.js";
import { curves } from "../lib/charts.js";
import { fill, h, percent } from "../lib/dom.js";
import { choice, field } from "../lib/fields.js";
import { classColumns, itemCard, itemName } from "../lib/items.js";
import { during, empty, failure } from "../lib/notes.js";

const RATES = ["0.01", "0.05", "0.1", "0.2"];

/** The smallest threshold that accepts a share of the known items. */
function accepting(known, share) {
  const at = known.findIndex((value) => value >= share);
  return at < 0 ? known.length - 1 : at;
}

function thresholdCard(context, rates, state, changed) {
  const { facts } = context;
  const last = accepting(rates.known, 0.9999);
  const high = Math.min(facts.n_bits, Math.max(last, state.threshold, state.distance ?? 0) + 8);
  const output = h("div", {});
  const slider = h("input", { type: "range", min: "0", max: String(high), value: String(state.threshold) });
  const draw = () => {
    const { threshold, distance } = state;
    const marks = [[threshold, `threshold ${threshold}`]];
    if (distance !== null) marks.push([distance, `this ${distance}`]);
    const list = [{ values: rates.known, kind: "known" }];
    if (rates.unknown) list.push({ values: rates.unknown, kind: "unknown" });
    fill(
      output,
      h(
        "dl",
        { class: "rates" },
        h("div", {}, h("dd", {}, percent(rates.known[threshold])), h("dt", {}, "of known items accepted")),
        rates.unknown && h("div", {}, h("dd", {}, percent(rates.unknown[threshold])), h("dt", {}, "false-accept rate")),
      ),
      curves(list, {
        high,
        marks,
        label: `Shares of items that are accepted, by threshold: at ${threshold} bits ${percent(rates.known[threshold])} of known items${rates.unknown ? `, ${percent(rates.unknown[threshold])} of unknown ones` : ""}`,
      }),
    );
    slider.setAttribute("aria-valuetext", `${threshold} bits`);
  };
  slider.addEventListener("input", () => {
    state.threshold = Number(slider.value);
    draw();
    changed();
  });
  draw();
  return [field("Threshold in bits: what has no item within it is new", slider), output];
}

function basis(rates, label) {
  const unknown = rates.unknown
    ? ` Unknown items are played by these with their whole ${label} left out: the rate for your own unknown items can differ.`
    : " Choose a column with classes to estimate the false-accept rate.";
  return `Measured on ${rates.n_samples} items of the collection, each left out.${unknown}`;
}

function verdict(state, facts) {
  const [nearest] = state.hits;
  const isNew = state.distance > state.threshold;
  return h(
    "div",
    { class: `verdict ${isNew ? "new" : "known"}`, role: "status" },
    h("b", {}, isNew ? "This is new." : "This is known."),
    h("p", {}, `The nearest item is ${state.distance} bits away, ${isNew ? "beyond" : "within"} the threshold of ${state.threshold}: ${itemName(facts, nearest.id, nearest.columns)}.`),
  );
}

/** The answer by class codes, and why no rate could be met where that is so. */
async function byClassCodes(api, body, rate) {
  try {
    const { results } = await api.post("v1/classify", { ...body, max_false_accept_rate: rate });
    return [results[0], null];
  } catch (error) {
    if (error.status !== 422) throw error;
    // Short codes cannot meet a small rate; the class is known all the same.
    return [(await api.post("v1/classify", body)).results[0], error.message];
  }
}

/** The class of the query, with the reason; by class codes, or by votes. */
async function classOf(context, body, label, rate, isNew) {
  const { facts, api } = context;
  const byCodes = facts.n_classes !== null && facts.n_classes !== undefined;
  if (!byCodes && !label) return null;
  const [found, refused] = byCodes
    ? await byClassCodes(api, body, Number(rate))
    : [(await api.post("v1/classify", { ...body, labels: label, k: 10 })).results[0], null];
  const accepted = found.accepted;
  return h(
    "section",
    { class: "card" },
    h("h2", {}, found.class === null ? "No class accepts it" : `${isNew ? "If it were known: " : ""}${found.class}`),
    refused && h("p", { class: "soft" }, `Nothing is rejected: ${refused}.`),
    found.share !== undefined && h("p", {}, `${percent(found.share, 0)} of the votes of the 10 nearest items.`),
    found.distance >= 0 && h("p", {}, `${found.distance} bits from the code of its class.`),
    accepted && h("p", { class: "soft" }, `Accepted within ${accepted.radius} bits of a class code, at a predicted false-accept rate of ${percent(accepted.predicted_rate, 2)} (${accepted.model})${accepted.met ? "." : "; the requested rate is not met."}`),
    found.classes?.length && h("ol", {}, ...found.classes.map((each) => h("li", { class: "row spread" }, h("span", {}, String(each.class)), h("span", { class: "number" }, percent(each.probability))))),
  );
}

/** Fills `root`: a query, the verdict, the threshold. */
export async function isNew(root, context) {
  const { facts, address, api } = context;
  const kinds = kindsOf(facts).filter((kind) => kind !== "code");
  const given = queryIn(address, facts);
  const kind = given?.kind ?? kinds[0];
  const input = queryInput(kind, given?.text ?? "");
  const labels = choice([["", "none"], ...classColumns(facts).map((name) => [name, name])], address.get("by", classColumns(facts)[0] ?? ""));
  const rate = choice(RATES.map((each) => [each, percent(Number(each), 0)]), address.get("rate", "0.05"));
  const main = h("section", { "aria-label": "Verdict" }, empty("Give an item, and see whether the collection knows anything like it."));
  const side = h("div", {});
  const state = { threshold: address.number("threshold", facts.novelty_radius), distance: null, hits: [] };
  const told = h("div", {});
  let rates = null;

  const judge = () => {
    address.set({ threshold: state.threshold });
    if (state.distance !== null) fill(told, verdict(state, facts));
  };
  const showThreshold = () =>
    fill(side, h("section", { class: "card" }, h("h2", {}, "Where does new begin?"), ...thresholdCard(context, rates, state, judge), h("p", { class: "row" }, h("span", { class: "key" }, h("i", { class: "known" }), "known items"), rates.unknown && h("span", { class: "key" }, h("i", { class: "unknown" }), "unknown items")), h("p", { class: "soft" }, basis(rates, labels.value))));

  const measure = () =>
    during(side, async () => {
      const query = labels.value ? `?labels=${encodeURIComponent(labels.value)}` : "";
      rates = await api.get(`v1/novelty${query}`);
      state.threshold ??= accepting(rates.known, 0.95);
      showThreshold();
    });

  const ask = () =>
    during(main, async () => {
      const query = await queryOf(kind, input);
      if (!query.text) return;
      const body = queryBody(query, facts);
      if (kind !== "image") address.set({ [kind]: query.text, by: labels.value || null, rate: rate.value === "0.05" ? null : rate.value });
      const found = await api.post("v1/search", { ...body, k: 6, rerank: false });
      // An item is not its own evidence.
      state.hits = found.results[0].hits.filter((hit) => kind !== "id" || String(hit.id) !== query.text).slice(0, 5);
      state.distance = state.hits[0]?.distance ?? null;
      fill(told, verdict(state, facts));
      const cards = h("ol", { class: "near" }, ...state.hits.map((hit) => h("li", {}, h("b", { class: "number" }, String(hit.distance)), itemCard(facts, hit, { href: address.link("search", { id: hit.id }) }))));
      const classes = h("div", {});
      fill(main, h("section", { class: "card stack" }, told, h("div", {}, h("h3", {}, "Nearest items"), cards)), classes);
      if (rates) showThreshold();
      classOf(context, body, labels.value, rate.value, state.distance > state.threshold).then(
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
      { class: "card ask", on: { submit: (event) => { event.preventDefault(); ask(); } } },
      h("div", { class: "row pick" }, field(`${titleOf(kind)} to judge`, input, { class: "field wide" }), classColumns(facts).length > 0 && field("Classes", labels), facts.n_classes > 0 && field("False-accept rate at most", rate), h("button", { class: "main", type: "submit" }, "Judge")),
    ),
    h("div", { class: "columns" }, main, side),
  );
  await measure();
  await ask();
}
