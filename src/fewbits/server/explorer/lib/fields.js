// Fields of forms, each with its label.
import { freshId, h } from "./dom.js";

export function field(label, input, properties = {}) {
  const id = input.id || freshId("field");
  input.id = id;
  return h("div", { class: "field", ...properties }, h("label", { for: id }, label), input);
}

/** `value` is one of the options: see `Address.oneOf` for one that people give. */
export function choice(options, value, properties = {}) {
  const select = h("select", properties);
  for (const [key, text] of options) {
    select.append(h("option", { value: key, selected: key === value }, text));
  }
  return select;
}

export function check(text, checked, properties = {}) {
  const input = h("input", { type: "checkbox", checked, ...properties });
  return [h("label", { class: "check" }, input, text), input];
}

/** One of a few; `changed(value)` is called with the one that is chosen. */
export function segments(legend, options, value, changed) {
  const name = freshId("segments");
  return h(
    "fieldset",
    { class: "segments" },
    h("legend", { class: "unseen" }, legend),
    ...options.map(([key, text]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name,
          value: key,
          checked: key === value,
          on: { change: () => changed(key) },
        }),
        h("span", {}, text),
      ),
    ),
  );
}
