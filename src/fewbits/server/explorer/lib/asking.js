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
  const own = { texts: ["text"], images: ["image"], vectors: ["vector"] }[facts.item_kind] ?? [];
  return [...own, "id", "code"];
}

export const titleOf = (kind) => (kind === "image" ? "Image" : TEXTS[kind].title);

/** A query in the address, or null: the kind and its text. */
export function queryIn(address, facts) {
  for (const kind of kindsOf(facts)) {
    const text = address.get(kind);
    if (text !== null && text !== "") return { kind, text };
  }
  return null;
}

/** The part of a request that says what is asked about. */
export function queryBody({ kind, text, image }, facts) {
  if (kind === "text") return { texts: [text] };
  if (kind === "id") return { ids: [parseId(facts, text)] };
  if (kind === "code") return { codes: [text.trim().toLowerCase()] };
  if (kind === "image") return { images: [image] };
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
  return h("input", {
    type: kind === "text" ? "search" : "text",
    placeholder: TEXTS[kind].hint,
    class: kind === "code" || kind === "vector" ? "mono" : "",
    autocomplete: "off",
    spellcheck: "false",
    value: text,
  });
}

/** The bytes of a file in base64. */
export async function base64Of(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}

/** What is in the field now. */
export async function queryOf(kind, input) {
  if (kind !== "image") return { kind, text: input.value.trim() };
  const file = input.files[0];
  return { kind, text: file?.name ?? "", image: file ? await base64Of(file) : null };
}
