// A card beside the pointer: the item below it, as people read it.
import { fill, h, settled } from "../../lib/dom.js";
import { itemCard } from "../../lib/items.js";

const KEPT = 500; // items that are remembered

export function hoverCard({ api, facts, signal }, plane) {
  const known = new Map();
  const card = h("div", { class: "card hover", hidden: true, "aria-hidden": "true" });
  plane.element.append(card);
  let wanted = -1;

  const place = (left, top) => {
    const { width, height } = plane.camera;
    const box = card.getBoundingClientRect();
    const x = left + 16 + box.width > width ? left - 16 - box.width : left + 16;
    const y = Math.min(Math.max(top - box.height / 2, 8), height - box.height - 8);
    card.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
  };
  const show = (item, left, top) => {
    fill(card, itemCard(facts, item));
    card.hidden = false;
    place(left, top);
  };
  const ask = settled(async (point, left, top) => {
    const row = plane.points.rows[point];
    try {
      const { items } = await api.post("v1/items", { positions: [row] }, signal);
      if (known.size >= KEPT) known.clear();
      known.set(row, items[0]);
      if (wanted === point) show(items[0], left, top);
    } catch {
      // A card that does not come is no reason to disturb.
    }
  }, 40);

  const over = (point, left, top) => {
    if (point < 0) {
      wanted = -1;
      card.hidden = true;
      return;
    }
    const item = known.get(plane.points.rows[point]);
    if (item) show(item, left, top);
    else if (wanted !== point) {
      card.hidden = true;
      ask(point, left, top);
    }
    wanted = point;
  };
  return { over };
}
