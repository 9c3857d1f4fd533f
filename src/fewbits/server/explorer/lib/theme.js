// Light, dark, or what the system says; and the colours of the theme for canvases.
import { fill } from "./dom.js";

const CHOICES = ["system", "light", "dark"];
const root = document.documentElement;

function store(choice) {
  try {
    if (choice === "system") localStorage.removeItem("fewbits-theme");
    else localStorage.setItem("fewbits-theme", choice);
  } catch {
    // Then it holds for this page alone.
  }
}

export function themeSwitch(button) {
  const show = () => {
    const now = root.dataset.theme ?? "system";
    fill(button, { system: "◐", light: "○", dark: "●" }[now]);
    button.setAttribute("aria-label", `Theme: ${now}`);
    button.title = `Theme: ${now}`;
  };
  const changed = () => window.dispatchEvent(new Event("themechange"));
  button.addEventListener("click", () => {
    const now = CHOICES.indexOf(root.dataset.theme ?? "system");
    const next = CHOICES[(now + 1) % CHOICES.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    store(next);
    show();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  show();
}

/** Calls `draw` now and whenever the theme changes, until `signal` is aborted. */
export function drawn(draw, signal) {
  draw();
  window.addEventListener("themechange", draw, { signal });
}

/** The colours of custom properties as a canvas takes them. */
export function colours(...names) {
  const probe = document.createElement("span");
  document.body.append(probe);
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}
