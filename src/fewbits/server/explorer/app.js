// The shell of the page: facts, navigation, and one view at a time.
//
// A view is an object {name, title, question, mount(root, context)}:
//   name      its address is #name?state
//   title     its name in the navigation
//   question  its heading
//   mount     fills the empty element `root`; called anew when the address changes
//   needs     items that a collection has at least; with fewer, that is told in its place
// and the context has
//   facts     what GET v1/facts answers
//   api       get(path), post(path, body), put(path, body), bytes(path); see lib/api.js
//   address   oneOf(name, values, default), set({name: value}), …; see lib/address.js
//   announce  tells a screen reader one sentence
//   signal    is aborted when the view is left; requests of `api` end then
import { Address, parse } from "./lib/address.js";
import { Api, latest } from "./lib/api.js";
import { byId, count, fill, h, noun, plural } from "./lib/dom.js";
import { empty, failure, warning } from "./lib/notes.js";
import { themeSwitch } from "./lib/theme.js";
import { view as bits } from "./views/bits.js";
import { view as duplicates } from "./views/duplicates.js";
import { view as health } from "./views/health.js";
import { view as map } from "./views/map.js";
import { view as search } from "./views/search.js";
import { view as teach } from "./views/teach.js";

/** In the order of the navigation. */
const VIEWS = [search, bits, map, teach, duplicates, health];

const root = byId("view");
let facts = null;
let leaving = new AbortController();

function announce(text) {
  byId("announcer").textContent = text;
}

function showFacts() {
  const entries = [
    [noun(facts.n_items, "item"), facts.n_items],
    [noun(facts.n_bits, "bit"), facts.n_bits],
    [noun(facts.bytes_per_code, "byte per code", "bytes per code"), facts.bytes_per_code],
  ];
  fill(
    byId("facts"),
    ...entries.map(([name, value]) => h("div", {}, h("dd", {}, count(value)), h("dt", {}, name))),
  );
}

function navigation(current) {
  fill(
    byId("views"),
    ...VIEWS.map((view) =>
      h(
        "a",
        { href: `#${view.name}`, "aria-current": view === current ? "page" : null },
        view.title,
      ),
    ),
  );
}

function show(moveFocus) {
  const { name } = parse(location.hash);
  const view = VIEWS.find((each) => each.name === name) ?? VIEWS[0];
  leaving.abort();
  leaving = new AbortController();
  const signal = leaving.signal;
  const isUnknown = name !== "" && view.name !== name;
  navigation(view);
  document.title = `${view.title} · ${facts.name ?? "fewbits"}`;
  byId("question").textContent = view.question;
  root.dataset.view = view.name;
  fill(root);
  const context = {
    facts,
    api: new Api(signal),
    address: new Address(view.name, (text) => root.prepend(warning(text))),
    announce,
    signal,
  };
  Promise.resolve()
    .then(() => (facts.n_items < (view.needs ?? 0) ? fill(root, tooFew(view)) : view.mount(root, context)))
    .catch((error) => {
      if (error.name !== "AbortError") root.append(failure(error));
    });
  if (isUnknown) root.prepend(warning(`There is no view “${name}”: this is ${view.title}.`));
  if (moveFocus) {
    byId("main").focus({ preventScroll: true });
    window.scrollTo(0, 0);
    announce(view.question);
  }
}

function tooFew(view) {
  const needed = view.needs === 1 ? "an item" : "two items or more";
  return empty(`This takes a collection of ${needed}; this one ${facts.n_items ? "has one" : "is empty"}.`);
}

/** Others may add and delete while the page is open: figures follow, views on demand. */
const askFacts = latest();
async function collectionChanged() {
  const before = facts.n_items;
  try {
    Object.assign(facts, await askFacts((mine) => new Api().get("v1/facts", mine)));
  } catch {
    return; // a later change asks again
  }
  showFacts();
  if (facts.n_items !== before) {
    announce(`The collection has changed: it has ${plural(facts.n_items, "item")} now.`);
  }
}

let shown = null;
function follow() {
  const { name } = parse(location.hash);
  const isOther = shown !== null && shown !== name;
  shown = name;
  show(isOther);
}

async function start() {
  themeSwitch(byId("theme"));
  navigation(null);
  try {
    facts = await new Api().get("v1/facts");
  } catch (error) {
    fill(root, failure(error));
    return;
  }
  showFacts();
  window.addEventListener("collectionchange", collectionChanged);
  window.addEventListener("hashchange", (event) => {
    // The skip link points to #main, which is no view: the address of the view stays.
    if (new URL(event.newURL).hash === "#main") history.replaceState(null, "", event.oldURL);
    else follow();
  });
  follow();
}

start();
