// The 256 colours that the bytes of points stand for.
import { colours } from "../../lib/theme.js";
import { HUES } from "../../lib/palette.js";

const REST = 254;
const MISSING = 255;
const LAST = 253;

function channels(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return pen.getImageData(0, 0, 1, 1).data;
}

const named = (...names) => colours(...names).map(channels);

function set(palette, value, [red, green, blue], opacity) {
  palette.set([red, green, blue, Math.round(255 * opacity)], 4 * value);
}

/** Colours between stops, [value, colour, opacity], of a scale. */
function scale(palette, stops) {
  for (let value = 0; value <= LAST; value += 1) {
    const after = Math.max(1, stops.findIndex(([at]) => at >= value) < 0 ? stops.length - 1 : stops.findIndex(([at]) => at >= value));
    const [low, from, thin] = stops[after - 1];
    const [high, to, thick] = stops[after];
    const share = Math.min(Math.max((value - low) / Math.max(high - low, 1), 0), 1);
    const mixed = [0, 1, 2].map((i) => Math.round(from[i] + (to[i] - from[i]) * share));
    set(palette, value, mixed, thin + (thick - thin) * share);
  }
}

/** The colour of what is not selected. */
export const faintColour = () => named("class-rest")[0];

/** The palette for a legend of the service; `only`: the one value that is shown in colour. */
export function paletteOf(legend, only = null) {
  const palette = new Uint8Array(1024);
  const [rest] = named("class-rest");
  if (legend === null) {
    for (let value = 0; value < 256; value += 1) set(palette, value, rest, 0.7);
  } else if (legend.kind === "classes") {
    const hues = named(...Array.from({ length: HUES }, (_, i) => `class-${i}`));
    legend.legend.forEach((_, i) => set(palette, i, hues[i], 0.85));
    set(palette, REST, rest, 0.45);
    set(palette, MISSING, rest, 0.25);
    if (only !== null) {
      for (let value = 0; value < 256; value += 1) {
        if (value !== only) set(palette, value, rest, 0.18);
      }
      if (only === REST) set(palette, REST, named("ink")[0], 0.8);
    }
  } else if (legend.kind === "bit") {
    const [zero, one] = named("class-0", "class-1");
    set(palette, 0, zero, 0.75);
    set(palette, 1, one, 0.75);
  } else if (legend.scale.unit === "bits") {
    // Most items are about equally far: what matters is which few are nearer than they.
    const [near, between, far] = named("accent", "scale-mid", "scale-far");
    const [first, second, third] = legend.scale.steps;
    scale(palette, [[0, near, 1], [first, near, 1], [second, between, 0.9], [third, far, 0.5], [LAST, far, 0.35]]);
  } else {
    const [low, between, high] = named("accent", "scale-mid", "scale-far");
    scale(palette, [[0, low, 1], [LAST / 2, between, 0.85], [LAST, high, 0.75]]);
  }
  return palette;
}
