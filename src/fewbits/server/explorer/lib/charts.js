// Small drawings: histograms, curves and bars.
import { plural, s } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 128;
const FOOT = 16;
const SIDE = 4;

function frame(label) {
  return s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
}

function axis(low, high, at) {
  const step = niceStep(high - low);
  const ticks = [];
  for (let x = Math.ceil(low / step) * step; x <= high; x += step) {
    ticks.push(s("text", { x: at(x), y: HEIGHT - 3, "text-anchor": "middle" }, String(x)));
  }
  const line = { x1: SIDE, x2: WIDTH - SIDE, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT };
  return [s("line", { class: "axis", ...line }), ...ticks];
}

function niceStep(range) {
  for (const step of [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500]) {
    if (range / step <= 7) return step;
  }
  return 1000;
}

/** A line across, with a word beside it that stays within the drawing. */
function mark(x, text, line = 0) {
  const right = x < WIDTH * 0.6;
  return [
    s("line", { class: "mark", x1: x, x2: x, y1: 2, y2: HEIGHT - FOOT }),
    s(
      "text",
      {
        class: "marked",
        x: x + (right ? 4 : -4),
        y: 11 + 13 * line,
        "text-anchor": right ? "start" : "end",
      },
      text,
    ),
  ];
}

/**
 * Counts at the distances 0, 1, …; their heights are logarithmic, as few of many items
 * are near. `hits`: distances below the axis; `marks`: pairs of a distance and a text.
 */
export function histogram(counts, { hits = [], marks = [], near = -1 } = {}) {
  const there = counts.map((n, i) => (n ? i : -1)).filter((i) => i >= 0);
  if (!there.length) return frame("no items");
  const high = there.at(-1);
  const low = Math.max(0, Math.min(there[0], ...hits, ...marks.map(([x]) => x)) - 1);
  const top = Math.log1p(Math.max(...counts));
  const slot = (WIDTH - 2 * SIDE) / (high - low + 1);
  const at = (x) => SIDE + (x - low + 0.5) * slot;
  const full = HEIGHT - FOOT - 14;
  const svg = frame(
    `Distances of ${plural(counts.reduce((a, b) => a + b, 0), "item")}: from ` +
      `${there[0]} to ${high} bits, most at ${counts.indexOf(Math.max(...counts))}`,
  );
  for (const distance of there) {
    const height = Math.max(1, (Math.log1p(counts[distance]) / top) * full);
    svg.append(
      s(
        "rect",
        {
          class: (Array.isArray(near) ? near.includes(distance) : distance <= near)
            ? "bar near"
            : "bar",
          x: at(distance) - slot / 2 + Math.min(0.5, slot / 8),
          y: HEIGHT - FOOT - height,
          width: Math.max(slot - Math.min(1, slot / 4), 0.5),
          height,
        },
        s("title", {}, `${plural(counts[distance], "item")} at ${plural(distance, "bit")}`),
      ),
    );
  }
  svg.append(
    ...axis(low, high, at),
    ...marks.flatMap(([x, text], line) => mark(at(x), text, line)),
  );
  return svg;
}

/** Curves of shares over 0, 1, …; `curves`: {name, values, class}. */
export function curves(list, { high, marks = [], label }) {
  const at = (x) => SIDE + (x / Math.max(1, high)) * (WIDTH - 2 * SIDE);
  const full = HEIGHT - FOOT - 14;
  const y = (share) => HEIGHT - FOOT - share * full;
  const svg = frame(label);
  for (const { values, kind } of list) {
    const points = values.slice(0, high + 1).map((share, x) => `${at(x)},${y(share)}`);
    svg.append(s("polyline", { class: `curve ${kind}`, points: points.join(" ") }));
  }
  svg.append(...axis(0, high, at), ...marks.flatMap(([x, text], line) => mark(at(x), text, line)));
  return svg;
}

/** A bar from 0 to 1 within a table: `low` and `high` draw an interval. */
export function shareBar(share, { low = null, high = null, kind = "" } = {}) {
  const svg = s("svg", {
    viewBox: "0 0 100 10",
    class: `share ${kind}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  svg.append(
    s("rect", { class: "ground", x: 0, y: 2, width: 100, height: 6 }),
    s("rect", { class: "bar", x: 0, y: 2, width: 100 * share, height: 6 }),
  );
  if (low !== null) {
    svg.append(
      s("rect", {
        class: "interval",
        x: 100 * low,
        y: 0,
        width: Math.max(100 * (high - low), 0.5),
        height: 10,
      }),
    );
  }
  return svg;
}
