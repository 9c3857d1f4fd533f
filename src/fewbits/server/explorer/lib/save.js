// Files that are made here and saved by the browser.
import { h } from "./dom.js";
import { stringify } from "./json.js";

// Texts that a spreadsheet would compute begin with an apostrophe, as in files of the service.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

const quoted = (value) => {
  const isObject = typeof value === "object" && value !== null;
  const plain = isObject ? stringify(value) : String(value ?? "");
  const text = typeof value === "string" && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Rows of CSV as RFC 4180 has them. */
export function csv(header, rows) {
  return [header, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

export function save(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = h("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
