// Which classes have their name on the map, and where: those that have a region of it.

const VALUES = 256;
const SAMPLED = 200_000; // points that are looked at
const PER_CELL = 4; // points, where they are few: then cells are larger
const LEAST = 5; // items of a region
const LEAST_SHARE = 0.4; // of a class that lies in its region
const LEAST_PURITY = 0.5; // of a region, from what it would be by chance to all

/** How many points of each value lie in each cell of a square grid. */
function counted(points, values) {
  const side = Math.min(Math.max(Math.round(Math.sqrt(points.count / PER_CELL)), 6), 24);
  const step = Math.max(1, Math.floor(points.count / SAMPLED));
  const counts = new Uint32Array(side * side * VALUES);
  const totals = new Uint32Array(side * side);
  const cellOf = (point) => Math.floor(points.y(point) * side) * side + Math.floor(points.x(point) * side);
  for (let point = 0; point < points.count; point += step) {
    counts[cellOf(point) * VALUES + values[point]] += 1;
    totals[cellOf(point)] += 1;
  }
  return { side, step, cellOf, counts, totals };
}

/** For each cell the value that most of its points have, or -1. */
function owners({ side, counts }) {
  return Array.from({ length: side * side }, (_, cell) => {
    let owner = -1;
    let most = 0;
    for (let value = 0; value < VALUES; value += 1) {
      const n = counts[cell * VALUES + value];
      if (n > most) [owner, most] = [value, n];
    }
    return owner;
  });
}

/** A cell and the eight around it. */
function around(cell, side) {
  const found = [];
  for (let down = -1; down <= 1; down += 1) {
    for (let across = -1; across <= 1; across += 1) {
      const [row, column] = [Math.floor(cell / side) + down, (cell % side) + across];
      if (row >= 0 && row < side && column >= 0 && column < side) found.push(row * side + column);
    }
  }
  return found;
}

/** Lists of connected cells that a value owns. */
function regions(owner, value, side) {
  const left = new Set([...owner.keys()].filter((cell) => owner[cell] === value));
  const found = [];
  for (const first of left) {
    left.delete(first);
    const region = [first];
    for (const cell of region) {
      for (const next of around(cell, side)) if (left.delete(next)) region.push(next);
    }
    found.push(region);
  }
  return found;
}

/** The middle of a value's points where they are densest in a region, and their reach. */
function middle(points, values, value, grid, region, nOf) {
  const window = (cell) => around(cell, grid.side);
  const sum = (cell) => window(cell).reduce((all, each) => all + nOf(each), 0);
  const dense = new Set(window(region.reduce((best, cell) => (sum(cell) > sum(best) ? cell : best))));
  let [x, n, low, high] = [0, 0, 1, 0];
  for (let point = 0; point < points.count; point += grid.step) {
    if (values[point] !== value || !dense.has(grid.cellOf(point))) continue;
    x += points.x(point);
    n += 1;
    low = Math.min(low, points.y(point));
    high = Math.max(high, points.y(point));
  }
  return { x: x / n, y: (low + high) / 2, reach: (high - low) / 2 };
}

/** The labels of classes that have a region of their own, the largest first. */
export function labelPlaces(points, values, legend) {
  if (legend?.kind !== "classes" || !values || !points.count) return [];
  const grid = counted(points, values);
  const owner = owners(grid);
  const every = [...owner.keys()];
  const total = (cells) => cells.reduce((all, cell) => all + grid.totals[cell], 0);
  const found = legend.legend.map(({ label }, value) => {
    const nOf = (cell) => grid.counts[cell * VALUES + value];
    const size = (cells) => cells.reduce((all, cell) => all + nOf(cell), 0);
    const own = regions(owner, value, grid.side);
    if (!own.length) return null;
    const region = own.reduce((best, each) => (size(each) > size(best) ? each : best));
    const n = size(every);
    if (size(region) * grid.step < LEAST || size(region) < LEAST_SHARE * n) return null;
    const byChance = n / total(every);
    if (size(region) / total(region) < byChance + LEAST_PURITY * (1 - byChance)) return null;
    return { value, text: String(label), n, ...middle(points, values, value, grid, region, nOf) };
  });
  return found.filter(Boolean).sort((a, b) => b.n - a.n);
}
