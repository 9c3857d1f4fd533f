// What is in here twice?
import { confirmed } from "../lib/confirm.js";
import { count, fill, h, noun, plural, settled } from "../lib/dom.js";
import { field } from "../lib/fields.js";
import { busy, during, empty } from "../lib/notes.js";
import { save } from "../lib/save.js";
import { Keeping, groupCard } from "./duplicates_group.js";

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
    [count(found.n_groups), "", noun(found.n_groups, "group of duplicates", "groups of duplicates")],
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
  const forget = () => found.clear();
  return { box, draw, fillIn, forget, known };
}

export const view = {
  name: "duplicates",
  title: "Duplicates",
  question: "What is in here twice?",
  needs: 2,

  mount(root, context) {
    const { facts, address, api, announce, signal } = context;
    const keeping = new Keeping(address);
    let nItems = facts.n_items;
    let radius = address.whole("radius", 0, 0, facts.n_bits);
    const limit = Math.max(radiiOf(facts.n_bits).at(-1), radius);
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
        const found = await api.post("v1/duplicate-groups", body(radius, SHOWN), mine).catch((error) => {
          if (!mine.aborted) fill(counts);
          throw error;
        });
        fill(counts, figures(found, nItems));
        bars.known(radius, found);
        announce(`${plural(found.n_groups, "group")} within ${plural(radius, "bit")}.`);
        if (!found.n_groups) {
          fill(
            list,
            empty(
              `No two items have codes within ${plural(radius, "bit")}. A larger radius finds items that are less alike.`,
            ),
          );
          return;
        }
        const more = found.n_groups - found.groups.length;
        const largest = more > 0 ? `The ${count(found.groups.length)} largest groups; the file has all of them. ` : "";
        fill(
          list,
          h(
            "div",
            { class: "row spread" },
            h(
              "p",
              { class: "soft" },
              `${largest}Choose in each group what to keep: its other items are marked. Groups are chained: an item may differ from the one to keep by more than the radius.`,
            ),
            h(
              "div",
              { class: "row" },
              h("button", { type: "button", on: { click: exportAll } }, "Save the list as CSV"),
              facts.writable && deleteButton(found.groups),
            ),
          ),
          saved,
          h(
            "ol",
            { class: facts.kind === "images" ? "groups pictures" : "groups" },
            ...found.groups.map((group, number) =>
              groupCard(context, group, found.sizes[number], number, keeping),
            ),
          ),
        );
      });

    const exportAll = () =>
      during(saved, async () => {
        // Of groups whose first item is kept nothing need be said.
        const asked = { radius, keep: keeping.ids.size ? [...keeping.ids] : null };
        const file = await api.file("v1/duplicate-groups", asked, "text/csv");
        save(`duplicates-within-${radius}.csv`, file);
        fill(saved);
        announce("The list is saved.");
      });

    /** Deletes what is seen to be marked, and nothing that only the file has. */
    const deleteButton = (groups) => {
      const n = groups.reduce((sum, group) => sum + group.length - 1, 0);
      const text = `Delete the ${plural(n, "marked item")}`;
      const question = `Delete ${plural(n, "item")} of ${plural(groups.length, "group")} from the collection? The item to keep of each group stays. This cannot be undone.`;
      const click = async () => {
        if (await confirmed(question, `Delete ${plural(n, "item")}`, signal)) await remove(groups);
      };
      return h("button", { type: "button", on: { click } }, text);
    };
    const remove = (groups) =>
      during(saved, async () => {
        const ids = groups.flatMap((group) => group.map(({ id }) => id).filter((id) => id !== keeping.of(group)));
        ({ n_items: nItems } = await api.post("v1/delete", { ids }));
        for (const group of groups) keeping.choose(group, group[0].id);
        announce(`${plural(ids.length, "item")} deleted.`);
        bars.forget();
        look().then(() => bars.fillIn(() => radius));
      });

    const soon = settled(look, 120);
    function choose(to) {
      radius = to;
      slider.value = String(to);
      show();
      soon();
    }
    const show = () => {
      const told =
        radius === 0
          ? "equal codes"
          : `up to ${plural(radius, "bit differs", "bits differ")}`;
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
