// The plane itself: canvases, camera, and what is drawn when.
import { count, h, plural } from "../../lib/dom.js";
import { drawn } from "../../lib/theme.js";
import { Camera } from "./camera.js";
import { CanvasPlot } from "./canvas.js";
import { gestures } from "./gestures.js";
import { labelPlaces } from "./labels.js";
import { drawOverlay, paintOf } from "./overlay.js";
import { faintColour, paletteOf } from "./palettes.js";
import { Points } from "./points.js";
import { WebGlPlot } from "./webgl.js";

const REACH = 12; // pixels from the pointer to a point
const STILL = 180; // milliseconds after which nothing moves any more
const SLOW = 34; // milliseconds of a frame: then fewer points are drawn in motion
const QUICK = 20;
const FEWEST = 20_000;

export class Plane {
  constructor(total, { label, signal, renderer = null }) {
    this.signal = signal;
    this.points = new Points(total);
    this.camera = new Camera();
    this.told = {};
    this.lassoChanged = () => {};
    this.isLasso = false;
    this.only = null;
    this.values = null;
    this.legend = null;
    this.selected = [];
    this.boxes = []; // of the names on the map
    this.shown = { labels: [], item: null, neighbours: [], hovered: null, lasso: null, cross: false };
    const canvas = () => h("canvas", { class: "points", tabindex: "0", role: "application", "aria-roledescription": "map", "aria-label": label });
    const wanted = renderer === "canvas" ? null : WebGlPlot.on(canvas(), this.points, { evenSlow: renderer === "webgl2" });
    this.plot = wanted ?? new CanvasPlot(canvas(), this.points);
    this.fits = Infinity; // points that a frame in motion has time for
    this.canvas = this.plot.canvas;
    this.above = h("canvas", { class: "overlay", "aria-hidden": "true" });
    this.status = h("p", { class: "status" }, "Loading points …");
    this.element = h("div", { class: "plane" }, this.canvas, this.above, this.status);
    this.canvas.dataset.renderer = this.plot instanceof WebGlPlot ? "webgl2" : "canvas";
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    signal.addEventListener("abort", () => {
      observer.disconnect();
      this.plot.close();
    });
    drawn(() => {
      this.paint = paintOf();
      this.setPalette();
      this.redraw();
    }, signal);
    this.listen();
  }

  listen() {
    const told = {
      moved: () => {
        this.told.hovered?.(-1);
        this.shown.hovered = null;
        this.inMotion();
      },
      hovered: (left, top) => this.hover(left, top),
      left: () => this.hover(-1e6, -1e6),
      clicked: (left, top) => this.told.picked?.(this.near(left, top)),
      lassoing: (line) => {
        this.shown.lasso = line;
        this.redraw();
      },
      lassoed: (line) => {
        this.setLasso(false);
        this.told.selected?.(inOrder(this.points.inside(line, (point) => this.isShown(point))));
      },
      key: (name) => this.key(name),
    };
    gestures(this.canvas, this.camera, told, () => this.isLasso);
    const cross = (on) => () => {
      this.shown.cross = on && this.canvas.matches(":focus-visible");
      this.redraw();
    };
    this.canvas.addEventListener("focus", cross(true));
    this.canvas.addEventListener("blur", cross(false));
  }

  key(name) {
    if (name === "Enter") this.told.picked?.(this.near(this.camera.width / 2, this.camera.height / 2, 60));
    else if (name === "s" || name === "S") this.told.selected?.(this.seen());
    else if (name === "l" || name === "L") this.setLasso(!this.isLasso);
    else if (name === "Escape") {
      this.setLasso(false);
      this.told.cleared?.();
    } else return false;
    return true;
  }

  isShown(point) {
    return this.only === null || !this.values || this.values[point] === this.only;
  }

  near(left, top, reach = REACH) {
    const [x, y] = this.camera.toMap(left, top);
    return this.points.nearest(x, y, reach / this.camera.scale, (point) => this.isShown(point));
  }

  hover(left, top) {
    const point = this.near(left, top);
    const at = point < 0 ? null : [this.points.x(point), this.points.y(point)];
    if (point !== this.pointed) {
      this.pointed = point;
      this.shown.hovered = at;
      this.redraw();
    }
    // A name may have been cut.
    const named = this.boxes.find((box) => left > box.left && left < box.right && top > box.top && top < box.bottom);
    this.canvas.title = named?.text ?? "";
    this.told.hovered?.(point, left, top);
  }

  seen() {
    return inOrder(this.points.inBox(this.camera.seen, (point) => this.isShown(point)));
  }

  /** Takes over points that have come. */
  take(points, from) {
    if (this.points !== points) {
      this.points = points;
      this.plot.points = points;
    }
    this.plot.added(from);
    this.status.textContent = `${count(points.count)} of ${count(points.total)} points`;
    this.labels();
    this.redraw();
  }

  loaded() {
    this.status.textContent = plural(this.points.count, "point");
    this.element.dataset.loaded = "true";
  }

  setColours(values, legend) {
    this.values = values;
    this.legend = legend;
    this.only = null;
    this.plot.setValues(values);
    this.setPalette();
    this.labels();
    this.redraw();
  }

  setPalette() {
    this.plot.setPalette(paletteOf(this.legend, this.only), faintColour());
  }

  setOnly(value) {
    this.only = value;
    this.setPalette();
    this.labels();
    this.redraw();
  }

  labels() {
    const all = labelPlaces(this.points, this.values, this.legend);
    this.shown.labels = this.only === null ? all : all.filter(({ value }) => value === this.only);
  }

  setSelected(selected) {
    const marks = new Uint8Array(this.points.total).fill(selected.length ? 2 : 0);
    for (const point of selected) marks[point] = 1;
    this.selected = selected;
    this.plot.setMarks(marks);
    this.redraw();
  }

  /** An item at a place of the grid, with its neighbours; null takes it away. */
  setItem(place, neighbours = [], { centre = false } = {}) {
    this.shown.item = place && onPlane(place);
    this.shown.neighbours = neighbours.map(onPlane);
    if (centre && place) this.camera.show(...onPlane(place), Math.max(this.camera.zoom, 4));
    this.redraw();
  }

  setHovered(place) {
    this.shown.hovered = place ? onPlane(place) : null;
    this.redraw();
  }

  setLasso(on) {
    this.isLasso = on;
    this.element.classList.toggle("lasso", on);
    this.lassoChanged(on);
  }

  zoom(factor) {
    this.camera.zoomAt(factor);
    this.redraw();
  }

  reset() {
    this.camera.reset();
    this.redraw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.element;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.camera.resize(width, height);
    for (const canvas of [this.canvas, this.above]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.redraw();
  }

  /** Points grow with the zoom, and are smaller where there are many. */
  get size() {
    const shown = Math.max(this.points.count, 1);
    const base = Math.sqrt((0.35 * this.camera.width * this.camera.height) / shown);
    return Math.min(Math.max(base, 1.6), 5) * Math.min(this.camera.zoom ** 0.45, 4);
  }

  /** Draws no more points than there is time for, and all of them once it is still. */
  inMotion() {
    this.movedAt = performance.now();
    clearTimeout(this.still);
    this.still = setTimeout(() => {
      this.movedAt = null;
      this.drawnAt = null;
      this.redraw();
    }, STILL);
    this.redraw();
  }

  /** Learns from the time since the last frame how many points fit. */
  limit(now) {
    const { count: all } = this.points;
    if (!this.movedAt) return all;
    const took = this.drawnAt ? now - this.drawnAt : null;
    this.drawnAt = now;
    if (took !== null && took < 10 * SLOW) {
      const drawnNow = Math.min(this.fits, all);
      if (took > SLOW) this.fits = Math.max(FEWEST, drawnNow * Math.max(0.4, SLOW / took / 1.2));
      else if (took < QUICK) this.fits = drawnNow * 1.15;
    }
    return Math.floor(Math.min(this.fits, all));
  }

  redraw() {
    if (this.frame || this.signal.aborted) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = null;
      this.plot.draw(this.camera, this.size, this.ratio, this.limit(now));
      this.boxes = drawOverlay(this.above, this.camera, this.ratio, this.paint, this.shown);
    });
  }
}

/** Points in the order in which they came, which is random. */
const inOrder = (points) => Array.from(Uint32Array.from(points).sort());

const onPlane = ([x, y]) => [(x + 0.5) / 65536, (y + 0.5) / 65536];
