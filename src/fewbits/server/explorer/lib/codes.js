// Codes as the service sends them: hexadecimal, the first bit is the highest of a byte.

export function fromHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i += 1) {
    bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  }
  return bytes;
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const bitOf = (code, bit) => (code[bit >> 3] >> (7 - (bit & 7))) & 1;

export function flipped(code, bit) {
  const other = code.slice();
  other[bit >> 3] ^= 128 >> (bit & 7);
  return other;
}

/** The bits in which two codes differ. */
export function differing(a, b, nBits) {
  const found = [];
  for (let bit = 0; bit < nBits; bit += 1) {
    if (bitOf(a, bit) !== bitOf(b, bit)) found.push(bit);
  }
  return found;
}
