// The state of a view lies in the address, so that it can be shared: #view?name=value.

export function parse(hash) {
  const [name, query = ""] = hash.replace(/^#/, "").split("?", 2);
  return { name, values: new URLSearchParams(query) };
}

export function link(view, values = {}) {
  const given = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const query = new URLSearchParams(given).toString();
  return `#${view}${query ? `?${query}` : ""}`;
}

export class Address {
  constructor(view) {
    this.view = view;
  }

  get(name, otherwise = null) {
    return parse(location.hash).values.get(name) ?? otherwise;
  }

  number(name, otherwise) {
    const value = Number.parseInt(this.get(name, ""), 10);
    return Number.isNaN(value) ? otherwise : value;
  }

  /** Changes some values; null removes one. `push` adds a step to go back to. */
  set(changes, { push = false } = {}) {
    const { name, values } = parse(location.hash);
    const kept = name === this.view ? Object.fromEntries(values) : {};
    const to = link(this.view, { ...kept, ...changes });
    if (to === location.hash) return;
    history[push ? "pushState" : "replaceState"](null, "", to);
  }

  link(view, values = {}) {
    return link(view, values);
  }
}
