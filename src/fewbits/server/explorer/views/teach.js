// Can I find more of this, and is this new?
import { h } from "../lib/dom.js";
import { segments } from "../lib/fields.js";
import { findMore } from "./teach_more.js";
import { isNew } from "./teach_new.js";

const PARTS = { more: ["Find more", findMore], new: ["Is this new?", isNew] };

export const view = {
  name: "teach",
  title: "Teach",
  question: "Can I find more of this, and is this new?",
  needs: 2,

  mount(root, context) {
    const { address } = context;
    const part = address.oneOf("part", Object.keys(PARTS), "more");
    const body = h("div", {});
    const show = (name) => {
      body.replaceChildren();
      return PARTS[name][1](body, context);
    };
    root.append(
      h(
        "div",
        { class: "parts" },
        segments(
          "What to do",
          Object.entries(PARTS).map(([name, [title]]) => [name, title]),
          part,
          (name) => {
            address.set({ part: name === "more" ? null : name });
            show(name);
          },
        ),
      ),
      body,
    );
    return show(part);
  },
};
