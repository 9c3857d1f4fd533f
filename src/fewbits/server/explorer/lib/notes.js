// Short notes: what went wrong, what deserves attention, what is not there.
import { h } from "./dom.js";

export function failure(error) {
  return h("p", { class: "note bad", role: "alert" }, error.message);
}

export function warning(...content) {
  return h("p", { class: "note warn" }, ...content);
}

export function empty(...content) {
  return h("p", { class: "empty" }, ...content);
}

export function busy(text = "Working …") {
  return h("p", { class: "busy" }, text);
}

/** Fills an element by a request; says that it runs, and what went wrong. */
export async function during(element, work) {
  element.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") element.replaceChildren(failure(error));
    return null;
  } finally {
    element.removeAttribute("aria-busy");
  }
}
