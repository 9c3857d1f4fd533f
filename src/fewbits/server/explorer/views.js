// The views in the order of the navigation: one line each.
import { view as search } from "./views/search.js";
import { view as bits } from "./views/bits.js";
import { view as map } from "./views/map.js";
import { view as teach } from "./views/teach.js";
import { view as duplicates } from "./views/duplicates.js";
import { view as health } from "./views/health.js";

export const VIEWS = [search, bits, map, teach, duplicates, health];
