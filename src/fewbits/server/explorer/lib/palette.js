// Colours of classes: those that are met most have a hue, all others share a grey, so
// that a thousand classes can be told apart where it matters.

/** Hues there are; style/base.css has a light and a dark value of each. */
export const HUES = 10;

/** Returns a function from a value to the name of a colour: "class-0" …, "class-rest". */
export function classColours(values) {
  const counts = new Map();
  for (const value of values) {
    if (value === null || value === undefined) continue;
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const order = [...counts].sort(
    (a, b) => b[1] - a[1] || String(a[0]).localeCompare(String(b[0]), "en"),
  );
  const places = new Map(order.slice(0, HUES).map(([value], i) => [value, i]));
  return (value) => (places.has(value) ? `class-${places.get(value)}` : "class-rest");
}
