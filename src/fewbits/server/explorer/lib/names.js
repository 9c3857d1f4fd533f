// Names of the sides of bits, asked for once for each page.

let asked = null;
window.addEventListener("collectionchange", () => {
  asked = null;
});

/** What GET v1/bits answers; `fresh` asks anew. */
export function allBits(api, { fresh = false } = {}) {
  if (asked === null || fresh) {
    asked = api.get("v1/bits");
    asked.catch(() => {
      asked = null;
    });
  }
  return asked;
}

/** What a side of a bit is called: the name that people gave, or proposed words. */
export function sideName(bit, value) {
  return bit.names[value] ?? (bit.proposed?.[value] || null);
}

export function naming(bits) {
  return (bit, value) => sideName(bits[bit], value);
}
