// The points that have come so far, and which of them are near a place or in a region.

const CELLS = 256; // along each side
const SIDE = 65536;

export class Points {
  constructor(total) {
    this.total = total;
    this.count = 0;
    this.places = new Uint16Array(2 * total);
    this.rows = new Uint32Array(total);
    this.heads = new Int32Array(CELLS * CELLS).fill(-1);
    this.next = new Int32Array(total);
  }

  x(point) {
    return (this.places[2 * point] + 0.5) / SIDE;
  }

  y(point) {
    return (this.places[2 * point + 1] + 0.5) / SIDE;
  }

  add(places, rows) {
    const first = this.count;
    this.places.set(places, 2 * first);
    this.rows.set(rows, first);
    for (let point = first; point < first + rows.length; point += 1) {
      const cell = (this.places[2 * point + 1] >> 8) * CELLS + (this.places[2 * point] >> 8);
      this.next[point] = this.heads[cell];
      this.heads[cell] = point;
    }
    this.count += rows.length;
    return first;
  }

  *within({ left, bottom, right, top }) {
    const cell = (value) => Math.min(Math.max(Math.floor(value * CELLS), 0), CELLS - 1);
    for (let down = cell(bottom); down <= cell(top); down += 1) {
      for (let across = cell(left); across <= cell(right); across += 1) {
        for (let point = this.heads[down * CELLS + across]; point >= 0; point = this.next[point]) {
          yield point;
        }
      }
    }
  }

  /** The point nearest to a place, within a distance; -1 if there is none. */
  nearest(x, y, distance, isShown = () => true) {
    let found = -1;
    let best = distance * distance;
    const box = { left: x - distance, right: x + distance, bottom: y - distance, top: y + distance };
    for (const point of this.within(box)) {
      const apart = (this.x(point) - x) ** 2 + (this.y(point) - y) ** 2;
      if (apart <= best && isShown(point)) {
        best = apart;
        found = point;
      }
    }
    return found;
  }

  /** The points in a box that is seen. */
  inBox(box, isShown = () => true) {
    const found = [];
    for (const point of this.within(box)) {
      const x = this.x(point);
      const y = this.y(point);
      if (x >= box.left && x <= box.right && y >= box.bottom && y <= box.top && isShown(point)) found.push(point);
    }
    return found;
  }

  /** The points within a closed line of [x, y]. */
  inside(line, isShown = () => true) {
    const xs = line.map(([x]) => x);
    const ys = line.map(([, y]) => y);
    const box = { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
    return this.inBox(box, (point) => isShown(point) && isInside(line, this.x(point), this.y(point)));
  }
}

function isInside(line, x, y) {
  let odd = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i, i += 1) {
    const [x1, y1] = line[i];
    const [x2, y2] = line[j];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
  }
  return odd;
}
