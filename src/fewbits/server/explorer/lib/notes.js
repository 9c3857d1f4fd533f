// Short notes: what went wrong, what deserves attention, what is not there.
import { latest } from "./api.js";
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

const works = new WeakMap();

/**
 * Fills an element by `work(signal)`; says that it runs, and what went wrong. Newer work
 * ends the older by its signal: an answer that comes late is not put over a newer one.
 */
export function during(element, work) {
  if (!works.has(element)) works.set(element, latest());
  return works.get(element)(async (signal) => {
    element.setAttribute("aria-busy", "true");
    try {
      return await work(signal);
    } catch (error) {
      if (error.name !== "AbortError") element.replaceChildren(failure(error));
      return null;
    } finally {
      if (!signal.aborted) element.removeAttribute("aria-busy");
    }
  });
}
