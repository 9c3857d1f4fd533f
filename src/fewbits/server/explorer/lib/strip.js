// A code as a strip of bits; beside another code, the bits that differ stand out.
import { bitOf, differing } from "./codes.js";
import { h } from "./dom.js";
import { colours, drawn } from "./theme.js";

const PER_LINE = 512;
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) target.dispatchEvent(new Event("redraw"));
});

function colourOf(names, value, differs) {
  return names[(differs ? 2 : 0) + value];
}

function paint(canvas, { code, against, nBits, order }) {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  const names = colours("bit-0", "bit-1", "differ-0", "differ-1");
  const lines = Math.ceil(nBits / PER_LINE);
  const perLine = Math.ceil(nBits / lines);
  const cell = canvas.width / perLine;
  const line = canvas.height / lines;
  const gap = cell >= 3 * ratio ? ratio : 0;
  for (let place = 0; place < nBits; place += 1) {
    const bit = order ? order[place] : place;
    const value = bitOf(code, bit);
    const differs = against !== null && value !== bitOf(against, bit);
    const left = Math.round((place % perLine) * cell);
    const right = Math.round(((place % perLine) + 1) * cell);
    const top = Math.round(Math.floor(place / perLine) * line);
    pen.fillStyle = colourOf(names, value, differs);
    pen.fillRect(left, top, Math.max(right - left - gap, 1), line - (lines > 1 ? ratio : 0));
  }
}

function bitAt(canvas, event, { nBits, order }) {
  const lines = Math.ceil(nBits / PER_LINE);
  const perLine = Math.ceil(nBits / lines);
  const box = canvas.getBoundingClientRect();
  const column = Math.floor(((event.clientX - box.left) / box.width) * perLine);
  const row = Math.floor(((event.clientY - box.top) / box.height) * lines);
  const place = Math.min(Math.max(row * perLine + column, 0), nBits - 1);
  return order ? order[place] : place;
}

/**
 * A drawing of a code.
 *
 * `against`: the code that it is compared with; `order`: bits in the order in which they
 * are drawn; `naming(bit, value)`: what a side is called; `signal`: when to stop.
 */
export function strip({ code, against = null, nBits, order = null, naming = null, signal }) {
  const shown = { code, against, nBits, order };
  const canvas = h("canvas", { class: "strip", role: "img" });
  const apart = against === null ? null : differing(code, against, nBits);
  canvas.setAttribute(
    "aria-label",
    apart === null
      ? `code of ${nBits} bits`
      : `${apart.length} of ${nBits} bits differ${apart.length ? `: ${apart.join(", ")}` : ""}`,
  );
  const draw = () => paint(canvas, shown);
  canvas.addEventListener("redraw", draw);
  canvas.addEventListener("reorder", (event) => {
    shown.order = event.detail;
    draw();
  });
  canvas.addEventListener("mousemove", (event) => {
    const bit = bitAt(canvas, event, shown);
    const value = bitOf(code, bit);
    const name = naming?.(bit, value);
    const other = against !== null && bitOf(against, bit) !== value ? ", differs" : "";
    canvas.title = `bit ${bit} is ${value}${other}${name ? `: ${name}` : ""}`;
  });
  resized.observe(canvas);
  signal?.addEventListener("abort", () => resized.unobserve(canvas));
  drawn(draw, signal);
  return canvas;
}
