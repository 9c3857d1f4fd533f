// What is in here twice?
import { count, fill, h, settled } from "../lib/dom.js";
import { field } from "../lib/fields.js";
import { itemCard } from "../lib/items.js";
import { busy, during, empty } from "../lib/notes.js";
import { save } from "../lib/save.js";

const SHOWN = 50;
const PATIENCE = 1500; // milliseconds; larger radii take longer, and are counted when asked for

/** Radii whose counts are shown beside each other. */
function radiiOf(nBits) {
  const most = Math.max(1, Math.min(16, Math.floor(nBits / 8)));
  return [0, 1, 2, 3, 4, 6, 8, 12, 16].filter((radius) => radius <= most);
}

const spare = (found) => found.n_items - found.n_groups;

function figures(found, nItems) {
  const share = nItems ? ` ${((100 * spare(found)) / nItems).toFixed(2)} %` : "";
  const entries = [
    [count(found.n_groups), "", "groups of duplicates"],
    [count(found.n_items), "", "items in them"],
    [count(spare(found)), share, "could go: all but one of each group"],
  ];
  return h(
    "dl",
    { class: "figures" },
    ...entries.map(([value, small, name]) =>
      h(
        "div",
        {},
        h("dd", {}, value, small && h("small", { class: "soft" }, small)),
        h("dt", {}, name),
      ),
    ),
  );
}

function groupCard(context, group, size, number, keep) {
  const { facts, address } = context;
  const kept = keep.get(group[0].id) ?? group[0].id;
  return h(
    "li",
    { class: "card" },
    h(
      "fieldset",
      {},
      h("legend", { class: "unseen" }, `Which item of group ${number + 1} to keep`),
      ...group.map((item) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: `group-${number}`,
            checked: item.id === kept,
            "aria-label": `Keep item ${item.id}`,
            on: { change: () => keep.set(group[0].id, item.id) },
          }),
          h(
            "span",
            { class: "soft number", title: "bits that differ from the first" },
            String(item.distance),
          ),
          itemCard(facts, item, { href: address.link("search", { id: item.id }) }),
        ),
      ),
      size > group.length &&
        h("p", { class: "soft" }, `The first ${group.length} of ${count(size)} items.`),
    ),
  );
}

/** Bars of what could go at each radius, filled in one after another. */
function overview(context, asked, choose) {
  const { facts, signal } = context;
  const radii = radiiOf(facts.n_bits);
  const found = new Map();
  const box = h("div", {
    class: "radii",
    role: "group",
    "aria-label": "Items that could go, by radius",
  });
  const draw = (radius) => {
    const most = Math.sqrt(Math.max(1, ...[...found.values()].map(spare)));
    fill(
      box,
      radii.map((each) => {
        const known = found.get(each);
        const part = known ? Math.sqrt(spare(known)) / most : 0;
        return h(
          "button",
          {
            type: "button",
            "aria-pressed": String(each === radius),
            "aria-label": `Radius ${each}: ${known ? `${count(spare(known))} could go` : "not counted"}`,
            on: { click: () => choose(each) },
          },
          known ? count(spare(known)) : "?",
          h("i", { vars: { "--part": String(part) } }),
          String(each),
        );
      }),
    );
  };
  const fillIn = async (radiusNow) => {
    for (const radius of radii) {
      if (signal.aborted) return;
      if (found.has(radius)) continue;
      const started = performance.now();
      try {
        found.set(radius, await asked(radius, 0));
      } catch {
        return; // it takes too long: so do all larger radii
      }
      draw(radiusNow());
      if (performance.now() - started > PATIENCE) return;
    }
  };
  const known = (radius, counts) => {
    found.set(radius, counts);
    draw(radius);
  };
  return { box, draw, fillIn, known };
}

export const view = {
  name: "duplicates",
  title: "Duplicates",
  question: "What is in here twice?",

  mount(root, context) {
    const { facts, address, api, announce } = context;
    const limit = radiiOf(facts.n_bits).at(-1);
    const keep = new Map();
    let radius = Math.min(Math.max(address.number("radius", 0), 0), limit);
    const counts = h("div", {}, busy("Comparing all pairs …"));
    const list = h("section", { "aria-label": "Groups of duplicates" });
    const saved = h("div", {}); // why it was not
    const slider = h("input", {
      type: "range",
      min: "0",
      max: String(limit),
      value: String(radius),
    });
    const body = (at, maxGroups) => ({ radius: at, max_groups: maxGroups });
    const box = field("Radius", slider, { class: "field radius" });
    const bars = overview(
      context,
      (at, maxGroups) => api.post("v1/duplicate-groups", body(at, maxGroups)),
      (to) => choose(to),
    );

    const look = () =>
      during(list, async (mine) => {
        const found = await api.post("v1/duplicate-groups", body(radius, SHOWN), mine);
        fill(counts, figures(found, facts.n_items));
        bars.known(radius, found);
        announce(`${count(found.n_groups)} groups within ${radius} bits.`);
        if (!found.n_groups) {
          fill(
            list,
            empty(
              `No two items have codes within ${radius} bits. A larger radius finds items that are less alike.`,
            ),
          );
          return;
        }
        const more = found.n_groups - found.groups.length;
        fill(
          list,
          h(
            "div",
            { class: "row spread" },
            h(
              "p",
              { class: "soft" },
              more > 0
                ? `The ${count(found.groups.length)} largest groups; the file has all of them. Choose in each what to keep. Groups are chained: an item may differ from the kept one by more than the radius.`
                : "Choose in each group what to keep. Groups are chained: an item may differ from the kept one by more than the radius.",
            ),
            h("button", { type: "button", on: { click: exportAll } }, "Save the list as CSV"),
          ),
          saved,
          h(
            "ol",
            { class: facts.item_kind === "images" ? "groups pictures" : "groups" },
            ...found.groups.map((group, number) =>
              groupCard(context, group, found.sizes[number], number, keep),
            ),
          ),
        );
      });

    const exportAll = () =>
      during(saved, async () => {
        // Of groups whose first item is kept nothing need be said.
        const chosen = [...keep].filter(([first, id]) => first !== id).map(([, id]) => id);
        const asked = { radius, keep: chosen.length ? chosen : null };
        const file = await api.file("v1/duplicate-groups", asked, "text/csv");
        save(`duplicates-within-${radius}.csv`, file);
        fill(saved);
        announce("The list is saved.");
      });

    const soon = settled(look, 120);
    function choose(to) {
      if (to !== radius) keep.clear(); // groups are others
      radius = to;
      slider.value = String(to);
      show();
      soon();
    }
    const show = () => {
      const told =
        radius === 0
          ? "equal codes"
          : `up to ${radius} ${radius === 1 ? "bit differs" : "bits differ"}`;
      box.firstChild.textContent = `Radius: ${told}`;
      slider.setAttribute("aria-valuetext", told);
      address.set({ radius: radius || null });
      bars.draw(radius);
    };
    slider.addEventListener("input", () => choose(Number(slider.value)));

    root.append(
      h(
        "div",
        { class: "stack" },
        h(
          "section",
          { class: "card" },
          counts,
          box,
          bars.box,
          h("p", { class: "soft" }, "Items that could go, by radius; heights are square roots."),
        ),
        list,
      ),
    );
    show();
    return look().then(() => bars.fillIn(() => radius));
  },
};
