// What part of the map is shown. Places on the map are from 0 to 1, y upwards.

const CLOSEST = 400;

export class Camera {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.reset();
  }

  reset() {
    this.x = 0.5;
    this.y = 0.5;
    this.zoom = 1;
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  /** Pixels of the page in the whole map. */
  get scale() {
    return Math.min(this.width, this.height) * this.zoom;
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toMap(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  move(right, down) {
    this.x = clamp(this.x - right / this.scale, 0, 1);
    this.y = clamp(this.y + down / this.scale, 0, 1);
  }

  /** Zooms so that what is below a place of the screen stays there. */
  zoomAt(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toMap(left, top);
    this.zoom = clamp(this.zoom * factor, 1, CLOSEST);
    this.x = clamp(x - (left - this.width / 2) / this.scale, 0, 1);
    this.y = clamp(y + (top - this.height / 2) / this.scale, 0, 1);
  }

  show(x, y, zoom = this.zoom) {
    this.x = clamp(x, 0, 1);
    this.y = clamp(y, 0, 1);
    this.zoom = clamp(zoom, 1, CLOSEST);
  }

  /** The part of the map that is seen: left, bottom, right, top. */
  get seen() {
    const [left, top] = this.toMap(0, 0);
    const [right, bottom] = this.toMap(this.width, this.height);
    return { left, bottom, right, top };
  }
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
