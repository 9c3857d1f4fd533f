// JSON whose whole numbers stay exact: beyond 2^53, where a Number would round, they
// become a BigInt, and are written as numbers again.

// A string, which is skipped, or a whole number of 16 digits or more.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/g;

/** A whole number as it is written: a Number where that is exact, else a BigInt. */
export function parseWhole(digits) {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** A beginning that no string of a document has but by chance. */
const fresh = () => `int ${Math.random()}:`;

export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const mark = fresh();
  let isLarge = false;
  // A number with a fraction, or more digits before one, does not match as a whole.
  const marked = text.replace(TOKENS, (token, at) => {
    if (token[0] === '"' || /[\d.eE+]/.test(text[at - 1] ?? "")) return token;
    isLarge = true;
    return `"${mark}${token}"`;
  });
  if (!isLarge) return JSON.parse(text);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? parseWhole(value.slice(mark.length)) : value,
  );
}

export function stringify(value) {
  const mark = fresh();
  let isLarge = false;
  const text = JSON.stringify(value, (_, each) => {
    if (typeof each !== "bigint") return each;
    isLarge = true;
    return `${mark}${each}`;
  });
  return isLarge ? text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1") : text;
}
