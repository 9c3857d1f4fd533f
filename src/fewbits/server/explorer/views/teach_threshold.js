// A threshold between known and new, and the shares of items that it accepts.
import { curves } from "../lib/charts.js";
import { fill, h, percent } from "../lib/dom.js";
import { field } from "../lib/fields.js";

const range = ({ unknown_interval: found }, threshold) =>
  found ? `, 95 % interval ${found[threshold].map((share) => percent(share, 0)).join(" to ")}` : "";

export function thresholdCard(context, rates, state, changed) {
  const { facts } = context;
  const last = rates.known.findIndex((share) => share >= 0.9999);
  const high = Math.min(facts.n_bits, Math.max(last, state.threshold, state.distance ?? 0) + 8);
  const output = h("div", {});
  const slider = h("input", {
    type: "range",
    min: "0",
    max: String(high),
    value: String(state.threshold),
  });
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
        h(
          "div",
          {},
          h("dd", {}, percent(rates.known[threshold])),
          h("dt", {}, "of known items accepted"),
        ),
        rates.unknown &&
          h(
            "div",
            {},
            h("dd", {}, percent(rates.unknown[threshold])),
            h("dt", {}, `false-accept rate${range(rates, threshold)}`),
          ),
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
  return [
    field("Novelty threshold (bits): farther than this from every item is new", slider),
    output,
  ];
}

/** How the shares were measured, and why there is no false-accept rate where there is none. */
export function basis(rates, labels) {
  const measured = `Measured on ${rates.n_samples} items of the collection, each left out. Proposed: ${rates.threshold} bits, the fewest that accept 95 % of known items.`;
  if (rates.unknown) {
    return `${measured} Unknown items are simulated by leaving out each item’s whole ${labels.value}: the rate for your own unknown items can differ.`;
  }
  if (rates.reason) return `${measured} The false-accept rate cannot be estimated: ${rates.reason}.`;
  if (labels.length > 1) return `${measured} Choose a column with classes to estimate the false-accept rate.`;
  return `${measured} The false-accept rate cannot be estimated: no column has classes.`;
}
