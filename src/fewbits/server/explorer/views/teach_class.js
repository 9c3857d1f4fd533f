// The class of a query, with the reason: by class codes, or by votes of items.
import { lacksScores } from "../lib/asking.js";
import { h, percent } from "../lib/dom.js";

/** Why the class of an item is known, but not whether to reject it; null where it is. */
function unable(facts, kind) {
  if (!facts.summary.rejects) return "this collection cannot reject items of unknown classes";
  return lacksScores(kind, facts);
}

/** The answer by class codes, and why no rate could be met where that is so. */
async function byClassCodes(asked, rate, reason) {
  if (reason) return [await asked("v1/classify", {}), reason];
  try {
    return [await asked("v1/classify", { max_false_reject_rate: rate }), null];
  } catch (error) {
    if (error.status !== 422) throw error;
    // Too few items cannot hold a small rate; the class is known all the same.
    return [await asked("v1/classify", {}), error.message];
  }
}

/** What is to be expected of the threshold. */
function rejection({ false_reject_rate, false_accept_rate, false_accept_interval: range }) {
  const known = `At most ${percent(false_reject_rate, 1)} of known items are rejected`;
  if (false_accept_rate === null) return `${known}; too few classes tell of unknown ones.`;
  const [low, high] = range.map((share) => percent(share, 0));
  return `${known}; ${percent(false_accept_rate, 0)} of unknown ones (95 % interval ${low} to ${high}) are expected to be accepted.`;
}

/** The class of the query, with the reason; by class codes, or by votes. */
export async function classOf({ facts }, { asked, kind, label, rate, isNew }) {
  const byCodes = facts.n_classes > 0 && !facts.summary.several_labels;
  if (!byCodes && !label) return null;
  const [answer, refused] = byCodes
    ? await byClassCodes(asked, Number(rate), unable(facts, kind))
    : [await asked("v1/classify", { label, k: 10 }), null];
  const [found] = answer.results;
  return h(
    "section",
    { class: "card" },
    h(
      "h2",
      {},
      found.class === null
        ? "No class accepts it"
        : `${isNew ? "If it were known: " : ""}${found.class}`,
    ),
    refused && h("p", { class: "soft" }, `Nothing is rejected: ${refused}.`),
    found.share !== undefined &&
      h("p", {}, `${percent(found.share, 0)} of the votes of the 10 nearest items.`),
    found.distance >= 0 && h("p", {}, `${found.distance} bits from the code of its class.`),
    answer.expected && h("p", { class: "soft" }, rejection(answer.expected)),
    found.classes?.length &&
      h(
        "ol",
        {},
        ...found.classes.map((each) =>
          h(
            "li",
            { class: "row spread" },
            h("span", {}, String(each.class)),
            h("span", { class: "number" }, percent(each.probability)),
          ),
        ),
      ),
  );
}
