// Good and bad items teach what is looked for; the collection is ranked after each click.
import { fillIn, kindsOf, queryBody, queryInput, queryOf, titleOf, valueOf } from "../lib/asking.js";
import { count, fill, h } from "../lib/dom.js";
import { field } from "../lib/fields.js";
import { busy, during, warning } from "../lib/notes.js";
import { Judgements, candidate, exported, marked } from "./teach_judged.js";

const K = 12;
const LARGE = 1000; // items; in fewer, members stand for what is none, too
const SAVED = 1000;
const TOLD = {
  "v1/like": "The best of the collection by what you said; scores above 0 are members.",
  "v1/search": "The nearest items. Which are good?",
  "v1/items": "Some items from all of the collection. Which are like what you look for?",
};

/** Places from the whole collection. */
const spread = (n, k) => [
  ...new Set(Array.from({ length: k }, (_, i) => Math.floor((n * (i + 0.5)) / k))),
];

/** Fills `root`: a way to start, candidates to judge, and what was judged. */
export function findMore(root, context) {
  const { facts, address, api, announce } = context;
  const judgements = new Judgements(address);
  const kind = kindsOf(facts).includes("text") ? "text" : "id";
  const input = queryInput(kind, address.get("seed", ""));
  const image = facts.kind === "images" ? queryInput("image") : null;
  const list = h("section", { "aria-label": "Candidates" });
  const aside = h("aside", { class: "card", "aria-label": "What was judged" });
  let hits = [];

  const seed = async () => {
    // An address cannot hold an image, but its code.
    if (image && address.get("code")) return { codes: [address.get("code")] };
    const query = queryOf(kind, input);
    return query.text.trim() ? queryBody(query, facts) : null;
  };

  /** What is asked for: by a model once something is good, by the seed before; or any. */
  const question = async (k) => {
    const given = await seed();
    const said = { good_ids: [...judgements.good], bad_ids: [...judgements.bad] };
    // The text that began it stays an example; an item or image has to be called good.
    const good = kind === "text" ? given : null;
    if (judgements.good.size) return ["v1/like", { good, ...said, k }];
    if (given) return ["v1/search", { ...given, k }];
    return ["v1/items", { positions: spread(facts.n_items, k) }];
  };
  const hitsOf = ({ items, hits, metric }) => {
    if (items) return items;
    if (metric !== "margin") return hits[0];
    return hits[0].map((hit) => ({ ...hit, score: -hit.distance })); // large is good
  };

  const saveBest = async () => {
    const [path, body] = await question(Math.min(SAVED, facts.limits?.max_k ?? SAVED));
    exported(context, judgements, hitsOf(await api.post(path, body)));
    announce("The list is saved.");
  };

  const showAside = () => {
    const some = judgements.good.size + judgements.bad.size > 0;
    fill(
      aside,
      h("h2", {}, "What you said"),
      some
        ? h(
            "div",
            { class: "stack" },
            marked(context, judgements, "good", judged),
            marked(context, judgements, "bad", judged),
          )
        : h(
            "p",
            { class: "soft" },
            "Say of a few candidates whether they are good or bad. After each click the whole collection is ranked anew, by a linear model on bits.",
          ),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", disabled: !hits.length, on: { click: saveBest } },
          `Save the best ${count(SAVED)} as CSV`,
        ),
        h(
          "button",
          { class: "quiet", type: "button", disabled: !some, on: { click: forget } },
          "Start over",
        ),
      ),
    );
  };

  const rank = () =>
    during(list, async (mine) => {
      const [path, body] = await question(K);
      if (!list.firstChild) fill(list, busy("Ranking the collection …"));
      const answer = await api.post(path, body, mine);
      hits = hitsOf(answer);
      for (const hit of hits) judgements.seen.set(hit.id, hit);
      fill(
        list,
        facts.n_items > LARGE && hits[0]?.score < 0 && warning("Nothing in the collection looks like the good ones any more."),
        h("p", { class: "soft" }, TOLD[path]),
        h(
          "ol",
          { class: facts.kind === "images" ? "candidates pictures" : "candidates" },
          ...hits.map((hit) => candidate(context, hit, judgements, judged)),
        ),
      );
      announce(`${hits.length} candidates.`);
      showAside();
    });

  async function judged(id, side) {
    const place = hits.findIndex((hit) => hit.id === id);
    judgements.judge(id, side);
    showAside();
    await rank();
    // What was judged is gone from the list: its place is taken by the next.
    const next = list.querySelectorAll(`[data-side="${side}"]`)[Math.max(0, place)];
    next?.focus({ preventScroll: true });
  }

  function forget() {
    judgements.clear();
    rank().then(showAside);
  }

  const begin = (event) => {
    event.preventDefault();
    address.set({ seed: valueOf(input) || null, code: null }, { push: true });
    rank();
  };
  const beginByImage = () =>
    during(list, async (mine) => {
      const { codes } = await api.upload("v1/encode", image.files[0], {}, mine);
      fillIn(input, "");
      address.set({ seed: null, code: codes[0] }, { push: true });
      await rank();
    });
  image?.addEventListener("change", beginByImage);

  root.append(
    h(
      "form",
      { class: "card ask", on: { submit: begin } },
      h(
        "div",
        { class: "row pick" },
        image && field("Image to begin with", image, { class: "field wide" }),
        field(`${image ? "Or an id" : titleOf(kind)} to begin with`, input, { class: "field wide" }),
        h("button", { class: "main", type: "submit" }, "Begin"),
      ),
    ),
    h("div", { class: "columns" }, list, h("div", {}, aside)),
  );
  showAside();
  return restore(context, judgements).then(() => {
    showAside();
    return rank();
  });
}

/** Reads the items of an address that was shared. */
async function restore(context, judgements) {
  const ids = [...judgements.good, ...judgements.bad];
  if (!ids.length) return;
  const { items } = await context.api.post("v1/items", { ids });
  for (const item of items) judgements.seen.set(item.id, item);
}
