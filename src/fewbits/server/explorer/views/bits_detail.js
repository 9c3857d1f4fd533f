// One bit: its names, the words of both sides, the items that show it best, its classes.
import { shareBar } from "../lib/charts.js";
import { count, fill, h, percent } from "../lib/dom.js";
import { field } from "../lib/fields.js";
import { classColumns, itemCard } from "../lib/items.js";
import { allBits } from "../lib/names.js";
import { busy, during, failure } from "../lib/notes.js";

const BASES = {
  vectors: (n) => `The strongest of ${n} items, by the scores of their vectors.`,
  texts: (n) => `The strongest of ${n} items, by the scores of their texts.`,
  images: (n) => `The strongest of ${n} items, by the scores of their images.`,
  codes: (n) =>
    `Typical of ${n} items: nearest to the majority code of each side. How strongly a bit is set is told by vectors, and none are kept.`,
};

function sideTitle(found, value) {
  const given = found.names[value];
  const proposed = found.proposed?.[value];
  return h(
    "p",
    { class: "sidename" },
    h("span", { class: `value value-${value}` }, String(value)),
    given ?? (proposed || "no name"),
    h("small", {}, given ? "named by people" : proposed ? "proposed" : ""),
  );
}

function words(list = []) {
  if (!list.length) return null;
  return h(
    "p",
    { class: "more" },
    ...list.map((word) =>
      h(
        "span",
        { title: `z = ${word.z.toFixed(1)}` },
        `“${word.word}” in ${percent(word.share, 0)}, other side ${percent(word.other_share, 0)}`,
      ),
    ),
  );
}

function side(context, found, value) {
  const examples = value ? found.ones : found.zeros;
  const share = value ? found.share : 1 - found.share;
  return h(
    "section",
    { class: `side side-${value}`, "aria-label": `Items with a ${value}` },
    sideTitle(found, value),
    h("p", { class: "soft" }, `${percent(share)} of all items`),
    words(found.words?.[value]),
    examples.length
      ? h(
          "ol",
          { class: context.facts.kind === "images" ? "examples pictures" : "examples" },
          ...examples.map((item) =>
            h(
              "li",
              {},
              itemCard(context.facts, item, {
                href: context.address.link("search", { id: item.id }),
              }),
            ),
          ),
        )
      : h("p", { class: "soft" }, "No item has it."),
  );
}

function editor(context, found, saved) {
  const { api, facts, announce } = context;
  if (!facts.writable) {
    return h(
      "p",
      { class: "soft" },
      "To give names, start the service with ",
      h("code", {}, "--writable"),
      ".",
    );
  }
  const inputs = [0, 1].map((value) =>
    h("input", {
      value: found.names[value] ?? "",
      maxlength: "200",
      placeholder: found.proposed?.[value] || "no name",
    }),
  );
  const message = h("div", {});
  const save = async (event) => {
    event.preventDefault();
    try {
      const [zeros, ones] = inputs.map((input) => input.value.trim() || null);
      await api.put(`v1/bits/${found.bit}`, { zeros, ones });
      await allBits({ fresh: true });
      announce(`Names of bit ${found.bit} are saved.`);
      await saved();
    } catch (error) {
      fill(message, failure(error));
    }
  };
  return h(
    "form",
    { class: "row names", on: { submit: save } },
    ...inputs.map((input, value) => field(`Name of ${value}`, input, { class: "field wide" })),
    h("button", { type: "submit" }, "Save names"),
    message,
  );
}

function classes(context, found) {
  const { facts, address } = context;
  if (!found.classes) return null;
  const [label] = classColumns(facts);
  const more = found.n_classes - found.classes.length;
  return h(
    "section",
    { class: "card" },
    h("h2", {}, `By ${label}`),
    h(
      "p",
      { class: "soft" },
      `Share of ones in each class${more > 0 ? `; ${count(more)} between the ends are left out` : ""}.`,
    ),
    h(
      "table",
      { class: "classes" },
      h(
        "thead",
        { class: "unseen" },
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Class"),
          h("th", { scope: "col" }, "Share"),
          h("th", { scope: "col" }, "Ones"),
        ),
      ),
      h(
        "tbody",
        {},
        ...found.classes.map((each) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              h(
                "a",
                {
                  href: address.link("search", {
                    filter: condition(facts, label, each.class, found.bit),
                  }),
                },
                each.class || "–",
              ),
            ),
            h("td", {}, shareBar(each.share)),
            h("td", { class: "number" }, percent(each.share, 0)),
          ),
        ),
      ),
    ),
  );
}

function condition(facts, label, value, bit) {
  const { type } = facts.columns.find((column) => column.name === label);
  const name = /^\w+$/.test(label) ? label : `"${label}"`;
  const isNumber = /^u?int/.test(type);
  const quoted = isNumber ? value : `'${String(value).replaceAll("'", "''")}'`;
  return `${name} = ${quoted} and bit(${bit}) = 1`;
}

/** Fills `root` with what is known of one bit. */
export async function bitDetail(root, context, bit, signal) {
  const { api, facts } = context;
  if (!root.firstChild) fill(root, busy(`Looking for items that show bit ${bit} …`));
  const [label] = classColumns(facts);
  const query = label ? `?label=${encodeURIComponent(label)}` : "";
  const found = await api.get(`v1/bits/${bit}${query}`, signal);
  const again = () => during(root, (mine) => bitDetail(root, context, bit, mine));
  fill(
    root,
    h(
      "section",
      { class: "card" },
      h("h2", {}, `Bit ${bit}`, found.dead && ` is dead: it is ${found.share} in every item`),
      h("p", { class: "soft" }, BASES[found.by](count(found.n_items)), " ", same(context, found)),
      editor(context, found, again),
      h("div", { class: "sides" }, side(context, found, 0), side(context, found, 1)),
    ),
    classes(context, found),
  );
}

function same(context, found) {
  if (!found.same_as.length) return null;
  const links = found.same_as.flatMap((bit) => [
    ", ",
    h("a", { href: context.address.link("bits", { bit }) }, String(bit)),
  ]);
  return h("span", {}, "It says about the same as ", ...links.slice(1), ".");
}
