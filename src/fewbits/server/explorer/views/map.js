// Where are groups, outliers and confusions?
import { latest } from "../lib/api.js";
import { count, fill, h, plural } from "../lib/dom.js";
import { failure } from "../lib/notes.js";
import { colouring } from "./map/colouring.js";
import { hoverCard } from "./map/hover.js";
import { loadPoints, mapWhenReady } from "./map/load.js";
import { outlierLists } from "./map/outliers.js";
import { Plane } from "./map/plane.js";
import { showSelection } from "./map/selection.js";
import { earlierCard, itemSection, legendCard, trustCard } from "./map/side.js";

const KEYS =
  "Arrow keys move, plus and minus zoom, 0 shows all. Enter picks the point in the middle, " +
  "S selects what is visible, L draws around points, Escape clears.";

function toolbar(tools, plane, selectSeen, toTable) {
  const button = (text, label, click, more = {}) =>
    h("button", { type: "button", "aria-label": label, title: label, ...more, on: { click } }, text);
  const lasso = button("Lasso", "Draw around points to select them (or hold Shift)", () => plane.setLasso(!plane.isLasso), { "aria-pressed": "false" });
  plane.lassoChanged = (on) => lasso.setAttribute("aria-pressed", String(on));
  return h(
    "div",
    { class: "tools" },
    ...tools,
    toTable,
    h(
      "div",
      { class: "buttons" },
      lasso,
      button("Select all visible", "Select all points that are visible", selectSeen),
      button("−", "Zoom out", () => plane.zoom(1 / 1.6)),
      button("+", "Zoom in", () => plane.zoom(1.6)),
      button("Reset", "Show the whole map", () => plane.reset()),
    ),
  );
}

export const view = {
  name: "map",
  title: "Map",
  question: "Where are groups, outliers and confusions?",
  needs: 2,

  async mount(root, context) {
    const { facts, address, api, announce, signal } = context;
    const waiting = h("div", { class: "plane" });
    const legendBox = h("div", {});
    const itemBox = h("div", {});
    const selectionBox = h("div", {});
    const outlierBox = h("div", {});
    const trustBox = h("div", {});
    const card = h("section", { class: "card mapbox", "aria-label": "Map" }, waiting);
    root.append(
      h("div", { class: "columns" }, h("div", {}, card, selectionBox), h("aside", { "aria-label": "About the map" }, itemBox, legendBox, outlierBox, trustBox)),
    );

    const map = await mapWhenReady(context, waiting);
    fill(trustBox, !map.current && earlierCard(), trustCard(map));
    const plane = new Plane(map.n_points, { label: `Map of ${count(map.n_points)} items. ${KEYS}`, signal, renderer: address.get("renderer") });
    const hover = hoverCard(context, plane);
    const ask = latest();
    let chosen = null; // what the service told of an item
    let colours = null;
    let isLoaded = false;

    const guarded = (work) => async (...given) => {
      try {
        await work(...given);
      } catch (error) {
        if (error.name !== "AbortError") fill(itemBox, failure(error), error.code === "map_changed" && h("button", { type: "button", on: { click: () => location.reload() } }, "Load the new map"));
      }
    };

    const showLegend = () => {
      if (!colours) return;
      fill(legendBox, legendCard(colours.legend, colours.title, plane.only, (value) => {
        plane.setOnly(value);
        showLegend();
      }));
    };
    const coloured = (found) => {
      colours = found;
      plane.setColours(found.values, found.legend);
      showLegend();
      announce(`Coloured by ${found.title}.`);
      if (isLoaded) listOutliers(tools.classes());
    };
    const tools = colouring(context, map, { coloured, failed: (error) => fill(legendBox, failure(error)), item: () => chosen?.item ?? null });

    const close = () => {
      ask(() => {}); // no answer may come after it
      chosen = null;
      plane.setItem(null);
      fill(itemBox);
      address.set({ item: null });
    };
    const pick = guarded(async (which, { centre = false } = {}) => {
      const near = await ask((mine) => api.get(`v1/map/neighbours?${which}&k=10&version=${map.version}`, mine));
      chosen = near;
      const places = near.neighbours.map(({ place }) => place).filter(Boolean);
      plane.setItem(near.item.place, places, { centre });
      address.set({ item: near.item.id });
      fill(
        itemBox,
        itemSection(context, map, near, {
          show: (row) => pick(`row=${row}`, { centre: true }),
          hover: (row) => plane.setHovered(row === null ? null : near.neighbours.find((each) => each.row === row)?.place),
          close,
          measure: () => tools.byDistance(),
        }),
      );
      announce(`${near.neighbours.length} nearest items are listed.`);
    });

    const listOutliers = outlierLists(context, map, outlierBox, (row) => pick(`row=${row}`, { centre: true }));

    const toTable = h("button", { class: "small", type: "button", hidden: true, on: { click: () => selectionBox.scrollIntoView({ block: "start" }) } });
    const select = (selected) => {
      plane.setSelected(selected);
      toTable.hidden = !selected.length;
      toTable.textContent = `${count(selected.length)} selected: table below ↓`;
      if (!selected.length) {
        fill(selectionBox);
        announce("Nothing is selected.");
        return;
      }
      const rows = selected.map((point) => plane.points.rows[point]);
      announce(`${plural(rows.length, "item is", "items are")} selected; the table follows the map.`);
      guarded(showSelection)(context, selectionBox, { rows, selected, values: colours?.values, legend: colours?.legend, version: map.version, nItems: map.n_items, clear: () => select([]) });
    };

    plane.told = {
      picked: (point) => (point < 0 ? null : pick(`row=${plane.points.rows[point]}`)),
      hovered: hover.over,
      selected: select,
      cleared: () => {
        close();
        select([]);
      },
    };
    fill(card, toolbar(tools.fields, plane, () => select(plane.seen()), toTable), plane.element);
    plane.resize();
    tools.start();
    await loadPoints(context, map, (points, from) => plane.take(points, from));
    plane.loaded();
    isLoaded = true;
    listOutliers(tools.classes());
    const id = address.get("item");
    if (id !== null) await pick(`id=${encodeURIComponent(id)}`);
  },
};
