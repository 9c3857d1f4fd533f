// Names of the sides of bits, asked for once for each page.
import { Api } from "./api.js";

let asked = null;
window.addEventListener("collectionchange", () => {
  asked = null;
});

/** What GET v1/bits answers, to any view; `fresh` asks anew. */
export function allBits({ fresh = false } = {}) {
  if (asked === null || fresh) {
    const mine = new Api().get("v1/bits");
    mine.catch(() => {
      if (asked === mine) asked = null;
    });
    asked = mine;
  }
  return asked;
}

/** What a side of a bit is called: the name that people gave, or proposed words. */
export function sideName(bit, value) {
  return bit.names[value] ?? (bit.proposed?.[value] || null);
}
