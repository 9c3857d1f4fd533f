// A question that is asked before something is done for good.
import { h } from "./dom.js";

/** Whether people agree; `verb` is on the button that does it. */
export function confirmed(question, verb, signal) {
  return new Promise((resolve) => {
    const close = (value) => () => dialog.close(value);
    const dialog = h(
      "dialog",
      { class: "card", "aria-label": verb, on: { close: () => answer() } },
      h("p", {}, question),
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", autofocus: true, on: { click: close("") } }, "Cancel"),
        h("button", { type: "button", class: "main", on: { click: close("yes") } }, verb),
      ),
    );
    const cancel = close("");
    const answer = () => {
      signal.removeEventListener("abort", cancel);
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    };
    signal.addEventListener("abort", cancel, { once: true });
    document.body.append(dialog);
    dialog.showModal();
  });
}
