// What lies above the points: names of classes, rings, lines to neighbours, the lasso.
import { HUES } from "../../lib/palette.js";
import { colours } from "../../lib/theme.js";

const FONT = "600 13px Inter, system-ui, sans-serif";

/** Where names of classes go: in the densest cell of each, by its points so far. */
export function labelPlaces(points, values, legend) {
  if (legend?.kind !== "classes" || !values) return [];
  const cells = 24;
  const counts = legend.legend.map(() => new Uint32Array(cells * cells));
  const step = Math.max(1, Math.floor(points.count / 200_000));
  for (let point = 0; point < points.count; point += step) {
    const cell = counts[values[point]];
    if (cell) cell[Math.floor(points.y(point) * cells) * cells + Math.floor(points.x(point) * cells)] += 1;
  }
  return legend.legend.map(({ label }, value) => {
    // A cell with its eight neighbours, so that the name lies within the group.
    let best = -1;
    let most = 0;
    for (let at = 0; at < cells * cells; at += 1) {
      let sum = 0;
      for (let down = -1; down <= 1; down += 1) {
        for (let across = -1; across <= 1; across += 1) {
          const column = (at % cells) + across;
          if (column >= 0 && column < cells) sum += counts[value][at + down * cells + across] ?? 0;
        }
      }
      if (sum > most) {
        most = sum;
        best = at;
      }
    }
    return best < 0 ? null : { value, text: String(label), x: ((best % cells) + 0.5) / cells, y: (Math.floor(best / cells) + 0.5) / cells };
  }).filter(Boolean);
}

const shortened = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);

function drawLabels(pen, camera, labels, paint) {
  pen.font = FONT;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  const taken = [];
  for (const { value, text, x, y } of labels) {
    const [left, top] = camera.toScreen(x, y);
    const name = shortened(text);
    const half = pen.measureText(name).width / 2 + 4;
    const at = Math.min(Math.max(left, half), camera.width - half);
    if (left < 0 || left > camera.width || top < 8 || top > camera.height - 8) continue;
    if (taken.some(([x0, x1, y0]) => at - half < x1 && at + half > x0 && Math.abs(top - y0) < 18)) continue;
    taken.push([at - half, at + half, top]);
    pen.strokeStyle = paint.halo;
    pen.strokeText(name, at, top);
    pen.fillStyle = paint.classes[value] ?? paint.ink;
    pen.fillText(name, at, top);
  }
}

function ring(pen, camera, point, radius, colour, width = 2) {
  const [left, top] = camera.toScreen(...point);
  pen.beginPath();
  pen.arc(left, top, radius, 0, 2 * Math.PI);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
}

/** Colours of the theme; asked for when it changes, not for each frame. */
export function paintOf() {
  const [ink, halo, accent, ...classes] = colours("ink", "card", "accent", ...Array.from({ length: HUES }, (_, i) => `class-${i}`));
  return { ink, halo, accent, classes };
}

export function drawOverlay(canvas, camera, ratio, paint, { labels = [], item = null, neighbours = [], hovered = null, lasso = null, cross = false }) {
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, camera.width, camera.height);
  const { ink, halo, accent } = paint;
  drawLabels(pen, camera, labels, paint);
  if (item) {
    const [left, top] = camera.toScreen(...item);
    pen.lineWidth = 1.2;
    pen.strokeStyle = accent;
    for (const each of neighbours) {
      pen.beginPath();
      pen.moveTo(left, top);
      pen.lineTo(...camera.toScreen(...each));
      pen.stroke();
    }
    for (const each of neighbours) ring(pen, camera, each, 5, accent);
    ring(pen, camera, item, 8, halo, 5);
    ring(pen, camera, item, 8, accent, 3);
  }
  if (hovered) {
    ring(pen, camera, hovered, 6, halo, 4);
    ring(pen, camera, hovered, 6, ink, 2);
  }
  if (lasso?.length > 1) {
    pen.beginPath();
    for (const [x, y] of lasso) pen.lineTo(...camera.toScreen(x, y));
    pen.closePath();
    pen.globalAlpha = 0.12;
    pen.fillStyle = accent;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = accent;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
  if (cross) {
    const [left, top] = [camera.width / 2, camera.height / 2];
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.strokeRect(left - 14, top - 14, 28, 28);
  }
}
