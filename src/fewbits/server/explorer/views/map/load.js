// The map from the service: waits until it is made, then takes its points in parts.
import { count, fill, h } from "../../lib/dom.js";
import { Points } from "./points.js";

const FIRST = 50_000;
const PART = 250_000;
const STAGES = {
  waiting: "Starting",
  layout: "Laying out a sample of the items",
  places: "Placing the other items",
  trust: "Checking how far to trust it",
};

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    });
  });
}

/** Facts of the map, once there is one; shows in `box` how far it is. */
export async function mapWhenReady({ api, signal }, box) {
  let shown = null;
  for (;;) {
    const facts = await api.get("v1/map");
    if (facts.ready) return facts;
    if (facts.stage === "failed") {
      box.parentElement.hidden = true; // it says that a map is being made
      throw new Error(`There is no map: ${facts.fault}`);
    }
    if (shown === null) {
      shown = {
        bar: h("progress", { max: "1", "aria-label": "Making the map" }),
        text: h("p", { class: "soft", role: "status" }),
      };
      fill(
        box,
        h(
          "div",
          { class: "making" },
          h("h2", {}, "Making the map"),
          h("p", { class: "soft" }, "This takes seconds to a minute, once: the service keeps the map, and new items are placed on it."),
          shown.bar,
          shown.text,
        ),
      );
    }
    const share = facts.total ? facts.done / facts.total : 0;
    shown.bar.value = { waiting: 0, layout: 0.85 * share, places: 0.85 + 0.13 * share, trust: 0.98 }[facts.stage] ?? 0;
    shown.text.textContent = `${STAGES[facts.stage] ?? facts.stage}${facts.done ? `: ${count(facts.done)} of ${count(facts.total)}` : ""}`;
    await pause(400, signal);
  }
}

/** Takes all points; calls `came(points, from)` after each part. */
export async function loadPoints({ api }, facts, came) {
  const points = new Points(facts.n_points);
  while (points.count < facts.n_points) {
    const wanted = points.count === 0 ? FIRST : PART;
    const part = await api.bytes(`v1/map/points?start=${points.count}&count=${wanted}&version=${facts.version}`);
    const n = part.length / 8;
    if (!n) break;
    const from = points.add(new Uint16Array(part.buffer, 0, 2 * n), new Uint32Array(part.buffer, 4 * n, n));
    came(points, from);
  }
  return points;
}
