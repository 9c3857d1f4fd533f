// What a search can ask about: a text, an image, an item, a code or a vector.
import { h } from "./dom.js";
import { parseId } from "./items.js";

const TEXTS = {
  text: { title: "Text", hint: "Words or a sentence" },
  id: { title: "Id", hint: "Id of an item of this collection" },
  code: { title: "Code", hint: "Code in hexadecimal" },
  vector: { title: "Vector", hint: "Numbers, separated by commas" },
};

/** The kinds of queries that a collection takes, the usual one first. */
export function kindsOf(facts) {
  const own = { texts: ["text"], images: ["image"], vectors: ["vector"] }[facts.kind] ?? [];
  return [...own, "id", "code"];
}

export const titleOf = (kind) => (kind === "image" ? "Image" : TEXTS[kind].title);

/** Why queries of a kind have no scores; null where they have. */
export function lacksScores(kind, facts) {
  if (kind === "code") return "a code has no scores";
  if (kind === "id" && !facts.item_features) return "no vectors are kept";
  return null;
}

/** A query in the address, or null: the kind and its text. */
export function queryIn(address, facts) {
  const kinds = kindsOf(facts);
  for (const kind of Object.keys(TEXTS)) {
    if (address.get(kind) && !kinds.includes(kind)) {
      const titles = kinds.map((each) => titleOf(each).toLowerCase());
      address.refuse(kind, `this collection is searched by ${titles.join(", ")}`);
    }
  }
  for (const kind of kinds) {
    const text = address.get(kind);
    if (text !== null && text !== "") return { kind, text };
  }
  return null;
}

/** Asks about a query; an image goes by itself, as JSON has no room for a large one. */
export function askAbout(api, path, query, facts, options, signal) {
  if (query.image) return api.upload(path, query.image, options, signal);
  return api.post(path, { ...queryBody(query, facts), ...options }, signal);
}

/** The part of a request that says what is asked about, but for an image. */
export function queryBody({ kind, text }, facts) {
  if (kind === "text") return { texts: [text] };
  if (kind === "id") return { ids: [parseId(facts, text)] };
  if (kind === "code") return { codes: [text.trim().toLowerCase()] };
  const numbers = text
    .replace(/[[\]]/g, "")
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number);
  if (numbers.some(Number.isNaN)) throw new Error("a vector is numbers, separated by commas");
  return { vectors: [numbers] };
}

/** The field for one kind of query; an image is read when it is chosen. */
export function queryInput(kind, text = "") {
  if (kind === "image") return h("input", { type: "file", accept: "image/*" });
  const input = h("input", {
    type: kind === "text" ? "search" : "text",
    placeholder: TEXTS[kind].hint,
    class: kind === "code" || kind === "vector" ? "mono" : "",
    autocomplete: "off",
    spellcheck: "false",
  });
  fillIn(input, text);
  return input;
}

const filled = new WeakMap();

/** Fills a field; it has one line, but the text may have more. */
export function fillIn(input, text) {
  input.value = text;
  filled.set(input, { shown: input.value, text });
}

/** What is in a field: the text that it was filled with, unless it was edited. */
export function valueOf(input) {
  const { shown, text } = filled.get(input) ?? {};
  return input.value === shown ? text : input.value;
}

/** What is in the field now. */
export function queryOf(kind, input) {
  if (kind !== "image") return { kind, text: valueOf(input) };
  const file = input.files[0];
  return { kind, text: file?.name ?? "", image: file ?? null };
}
