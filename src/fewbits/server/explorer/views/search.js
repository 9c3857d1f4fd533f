// What is near, and why?
import {
  askAbout,
  kindsOf,
  lacksScores,
  queryBody,
  queryIn,
  queryInput,
  queryOf,
  titleOf,
} from "../lib/asking.js";
import { fromHex } from "../lib/codes.js";
import { count, fill, h, plural } from "../lib/dom.js";
import { check, choice, field, segments } from "../lib/fields.js";
import { classColumns, itemName, parseId, thumbnail } from "../lib/items.js";
import { busy, during, empty, warning } from "../lib/notes.js";
import { asCurl, asPython, asUpload, snippets } from "../lib/snippets.js";
import { strip } from "../lib/strip.js";
import { hitList } from "./search_hits.js";
import { whyNear } from "./search_why.js";

const COUNTS = [5, 10, 20, 50, 100];
const SAMPLED = 10_000; // items whose values the service counts

function options(facts, address) {
  const names = facts.columns.map(({ name }) => name);
  const hits = address.whole("k", 10, 1, facts.limits.max_k);
  const by = address.oneOf("group", names, "");
  const groups = facts.columns.filter((column) => column.name === by || repeats(column, facts));
  // By kept vectors, where there are any, hits are re-ranked unless one says no.
  const usual = facts.vectors;
  let reranks = address.oneOf("rerank", ["0", "1"], usual ? "1" : "0") === "1";
  const [rerankBox, rerank] = check("Re-rank", reranks, { id: "rerank" });
  rerank.addEventListener("change", () => {
    reranks = rerank.checked;
  });
  const reason = h("small", { class: "soft", id: "no-rerank" });
  rerank.setAttribute("aria-describedby", reason.id);
  const filter = h("input", {
    class: "mono",
    placeholder: exampleFilter(facts),
    autocomplete: "off",
    spellcheck: "false",
    value: address.get("filter", ""),
  });
  const counts = [...new Set([...COUNTS, hits])].sort((a, b) => a - b);
  const k = choice(
    counts.map((n) => [String(n), count(n)]),
    String(hits),
  );
  const group = choice([["", "no grouping"], ...groups.map(({ name }) => [name, name])], by);
  const element = h(
    "div",
    { class: "options" },
    field("Filter (an SQL condition)", filter, { class: "field wide" }),
    field("At most one hit per", group),
    field("Hits", k),
    h("div", { class: "field" }, rerankBox, reason),
  );
  const values = () => ({
    k: Number(k.value),
    filter: filter.value.trim() || null,
    group_by: group.value || null,
    rerank: rerank.disabled || reranks === usual ? null : reranks,
  });
  const of = (kind) => {
    const why = lacksScores(kind, facts);
    rerank.disabled = why !== null;
    rerank.checked = reranks && why === null;
    reason.textContent = why ?? "";
  };
  return { element, values, of };
}

/** Whether several items may share a value of a column, so that it makes groups. */
function repeats({ type, n_distinct: distinct }, { n_items: n }) {
  if (/^(float|double|halffloat|list|large_list|fixed_size|struct|map|binary)/.test(type)) return false;
  return distinct === undefined || distinct < Math.min(n, SAMPLED);
}

/** A condition on a column in the spelling of its type: numbers have no quotes. */
function exampleFilter(facts) {
  const label = classColumns(facts)[0];
  if (!label) return "for example bit(12) = 1";
  const type = facts.columns.find((column) => column.name === label)?.type;
  const value = /^u?int|float|double/.test(type) ? "1" : type === "bool" ? "true" : "'…'";
  return `for example ${/^\w+$/.test(label) ? label : `"${label}"`} = ${value}`;
}

function toAddress(query, asked, found) {
  const code = query.kind === "image" ? found.codes[0] : null;
  const cleared = { text: null, id: null, code: null, vector: null };
  const own = query.kind === "image" ? { code } : { [query.kind]: query.text };
  return {
    ...cleared,
    ...own,
    k: asked.k === 10 ? null : asked.k,
    filter: asked.filter,
    group: asked.group_by,
    rerank: asked.rerank === null ? null : Number(asked.rerank),
  };
}

async function suggestions(root, context, mine) {
  const { api, facts, address, signal } = context;
  const n = facts.n_items;
  if (!n) {
    fill(root, empty("The collection is empty: add items, and search them here."));
    return;
  }
  const positions = [
    ...new Set(
      [0.04, 0.137, 0.22, 0.31, 0.43, 0.52, 0.61, 0.71, 0.83, 0.93].map((at) => Math.floor(at * n)),
    ),
  ];
  const { items } = await api.post("v1/items", { positions }, mine);
  const isPictures = facts.kind === "images";
  const asked = isPictures ? "Choose an image above, or drop one anywhere" : "Ask something above";
  fill(
    root,
    h("p", { class: "soft" }, `${asked}, or look at the neighbours of an item:`),
    h(
      "ul",
      { class: isPictures ? "suggestions pictures" : "suggestions" },
      ...items.map(({ id, columns, code }) =>
        h(
          "li",
          {},
          h(
            "a",
            { href: address.link("search", { id }) },
            isPictures && thumbnail(facts, id, ""),
            itemName(facts, id, columns),
          ),
          strip({ code: fromHex(code), nBits: facts.n_bits, signal }),
        ),
      ),
    ),
  );
}

/** An item that is searched for: it is left out of its own hits. */
async function itemOf(api, facts, text, mine) {
  const { items } = await api.post("v1/items", { ids: [parseId(facts, text)] }, mine);
  return items[0];
}

/** The question for Python and for curl. */
function program(query, asked, facts) {
  const options = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
  if (query.image) {
    return {
      Python: asPython({ images: [query.text], ...options }),
      curl: asUpload("v1/search", query.image, options),
    };
  }
  const body = queryBody(query, facts);
  return {
    Python: asPython({ ...body, ...options }),
    curl: asCurl("v1/search", { ...body, ...options }),
  };
}

export const view = {
  name: "search",
  title: "Search",
  question: "What is near, and why?",

  mount(root, context) {
    const { facts, address, api, announce } = context;
    const given = queryIn(address, facts);
    let kind = given?.kind ?? kindsOf(facts)[0];
    let input = queryInput(kind, given?.text ?? "");
    const chosen = options(facts, address);
    const place = h("div", { class: "query" });
    const main = h("section", { "aria-label": "Hits" });
    const aside = h("aside", { "aria-label": "Why these are near" });

    const show = (kindNow, text = "") => {
      kind = kindNow;
      input = queryInput(kind, text);
      chosen.of(kind);
      fill(place, field(`${titleOf(kind)} to search for`, input));
      if (kind === "image") input.addEventListener("change", () => form.requestSubmit());
    };

    const ask = async (query, push) => {
      if (!query.text.trim() && !query.image) {
        const wanted = kind === "image" ? "an image" : `a ${titleOf(kind).toLowerCase()}`;
        during(main, () => fill(main, warning(`Give ${wanted} to search for.`)));
        fill(aside);
        input.focus();
        return;
      }
      const asked = chosen.values();
      const done = await during(main, async (mine) => {
        if (!main.firstChild) fill(main, busy("Searching …"));
        const started = performance.now();
        const found = await askAbout(api, "v1/explain", query, facts, asked, mine);
        const took = performance.now() - started;
        address.set(toAddress(query, asked, found), { push });
        const item = query.kind === "id" ? await itemOf(api, facts, query.text, mine) : null;
        fill(main, hitList(context, found, { took, filter: asked.filter, item }));
        fill(
          aside,
          whyNear(context, found, asked),
          snippets(program(query, asked, facts), announce),
        );
        announce(`${plural(found.hits[0].length, "hit")}.`);
        return true;
      });
      // What is beside hits is of these alone.
      if (!done) fill(aside);
    };

    const form = h(
      "form",
      {
        class: "card ask",
        role: "search",
        on: {
          submit: async (event) => {
            event.preventDefault();
            await ask(queryOf(kind, input), true);
          },
        },
      },
      h(
        "div",
        { class: "row" },
        segments(
          "Search by",
          kindsOf(facts).map((each) => [each, titleOf(each)]),
          kind,
          (to) => {
            show(to);
            input.focus();
          },
        ),
        place,
        h("button", { class: "main", type: "submit" }, "Search"),
      ),
      chosen.element,
    );
    root.append(form, h("div", { class: "columns" }, main, aside));
    show(kind, given?.text ?? "");
    chosen.element.addEventListener("change", (event) => {
      // A filter is typed until Enter; the others are chosen.
      if (event.target.matches("select, [type=checkbox]") && main.querySelector(".hits")) {
        form.requestSubmit();
      }
    });
    dropsImages(root, facts, async (file) => {
      await ask({ kind: "image", text: file.name, image: file }, true);
    });
    if (given) return ask(given, false);
    if (kind !== "image") input.focus({ preventScroll: true });
    return during(main, (mine) => suggestions(main, context, mine));
  },
};

function dropsImages(root, facts, take) {
  if (facts.kind !== "images") return;
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}
