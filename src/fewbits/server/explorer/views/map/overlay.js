// What lies above the points: names of classes, rings, lines to neighbours, the lasso.
import { shortened } from "../../lib/dom.js";
import { colours } from "../../lib/theme.js";

const FONT = "Inter, system-ui, sans-serif";
const [SMALLEST, LARGEST] = [11.5, 16]; // pixels of a name, by the size of its class
const LONGEST = 28;

/** Draws names that have room, and returns where. */
function drawLabels(pen, camera, labels, paint) {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineWidth = 6;
  pen.lineJoin = "round";
  const most = Math.max(...labels.map(({ n }) => n));
  const taken = [];
  for (const { text, n, x, y, reach } of labels) {
    const size = SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(n / most);
    pen.font = `600 ${size}px ${FONT}`;
    const [left, middle] = camera.toScreen(x, y);
    // Beside points that it would hide: above them, or below where there is no room.
    const height = reach * camera.scale;
    const beside = middle - height < 2 * size ? middle + height + size : middle - height - size;
    const top = height < 2 * size ? beside : middle;
    const name = shortened(text, LONGEST);
    const half = pen.measureText(name).width / 2 + 4;
    const at = Math.min(Math.max(left, half), camera.width - half);
    if (left < 0 || left > camera.width || top < size || top > camera.height - size) continue;
    const box = { left: at - half, right: at + half, top: top - size * 0.7, bottom: top + size * 0.7, text };
    if (taken.some((other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top)) continue;
    taken.push(box);
    pen.strokeStyle = paint.halo;
    pen.strokeText(name, at, top);
    pen.fillStyle = paint.ink;
    pen.fillText(name, at, top);
  }
  return taken;
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
  const [ink, halo, accent] = colours("ink", "card", "accent");
  return { ink, halo, accent };
}

/** Draws what is shown, and returns the boxes of names. */
export function drawOverlay(canvas, camera, ratio, paint, { labels = [], item = null, neighbours = [], hovered = null, lasso = null, cross = false }) {
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, camera.width, camera.height);
  const { ink, halo, accent } = paint;
  const boxes = drawLabels(pen, camera, labels, paint);
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
  return boxes;
}
