// What was asked, as a program that asks it.
import { h } from "./dom.js";
import { stringify } from "./json.js";

function literal(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(
      ([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  return stringify(value);
}

/** A search of the collection that `fewbits.open` returns. */
export function asPython(options) {
  const given = Object.entries(options).map(([name, value]) => `${name}=${literal(value)}`);
  return [
    "import fewbits",
    "",
    `col = fewbits.open(${JSON.stringify(origin())})`,
    `hits = col.search(${given.join(", ")})`,
  ].join("\n");
}

export function asCurl(path, body) {
  const json = stringify(body).replaceAll("'", "'\\''");
  return `curl -s ${origin()}/${path} \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}

/** An image by itself. */
export function asUpload(path, image, options) {
  const address = `${origin()}/${path}?${new URLSearchParams(options)}`;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return `curl -s ${quoted(address)} \\\n  -H 'Content-Type: ${image.type}' \\\n  --data-binary ${quoted(`@${image.name}`)}`;
}

const origin = () => new URL(".", location.href).href.replace(/\/$/, "");

/** A closed list of programs, each with a button that copies it. */
export function snippets(programs, announce) {
  return h(
    "details",
    { class: "card snippets" },
    h("summary", {}, "Copy as code"),
    ...Object.entries(programs).map(([name, text]) =>
      h(
        "div",
        {},
        h(
          "div",
          { class: "row spread" },
          h("h3", {}, name),
          h(
            "button",
            { class: "quiet", type: "button", on: { click: () => copy(text, name, announce) } },
            `Copy as ${name}`,
          ),
        ),
        h("pre", { tabindex: "0" }, text),
      ),
    ),
  );
}

async function copy(text, name, announce) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied as ${name}.`);
  } catch {
    announce("The clipboard cannot be reached: select the text and copy it.");
  }
}
