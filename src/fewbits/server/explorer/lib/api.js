// Requests to the service that this page comes from, and to nothing else.
import { parse, stringify } from "./json.js";

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

let snapshot = null;

/** Tells the page when answers come from another state of the collection than before. */
function notice(response) {
  const now = response.headers.get("Fewbits-Snapshot");
  if (now === null || now === snapshot) return;
  const isChange = snapshot !== null;
  snapshot = now;
  if (isChange) window.dispatchEvent(new Event("collectionchange"));
}

async function checked(response) {
  notice(response);
  if (response.ok) return response;
  let error = {};
  try {
    ({ error = {} } = parse(await response.text()));
  } catch {
    // A proxy may answer something else than JSON.
  }
  const message = error.message ?? `the service answered ${response.status}`;
  throw new ApiError(response.status, error.code ?? "unknown", message);
}

export class Api {
  /** Paths are relative to the page, as it may be served below another path. */
  constructor(signal = undefined) {
    this.signal = signal;
  }

  /** Ends when the view is left, or by a signal of its own. */
  async send(method, path, body, own, headers = {}) {
    const signal = AbortSignal.any([this.signal, own].filter(Boolean));
    const options = { method, signal, headers: { ...headers } };
    if (body instanceof Blob) options.body = body;
    else if (body !== undefined) {
      options.body = stringify(body);
      options.headers["Content-Type"] = "application/json";
    }
    let response;
    try {
      response = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "unreachable", "the service cannot be reached");
    }
    return checked(response);
  }

  async get(path, signal) {
    return parse(await (await this.send("GET", path, undefined, signal)).text());
  }

  async post(path, body, signal) {
    const headers = { Accept: "application/json" };
    return parse(await (await this.send("POST", path, body, signal, headers)).text());
  }

  async put(path, body) {
    return parse(await (await this.send("PUT", path, body)).text());
  }

  /** Sends an image by itself, and what else is asked in the address. */
  async upload(path, image, options, signal) {
    const given = Object.entries(options).filter(([, value]) => value !== null);
    const type = image.type.startsWith("image/") ? image.type : "image/unknown";
    const address = `${path}?${new URLSearchParams(given)}`;
    return parse(await (await this.send("POST", address, image, signal, { "Content-Type": type })).text());
  }

  /** What is answered in another form than JSON, such as "text/csv". */
  async file(path, body, accept) {
    return (await this.send("POST", path, body, undefined, { Accept: accept })).blob();
  }

  async bytes(path) {
    return new Uint8Array(await (await this.send("GET", path)).arrayBuffer());
  }
}

/** Runs one request at a time: a newer one ends the older. */
export function latest() {
  let running = new AbortController();
  return (ask) => {
    running.abort();
    running = new AbortController();
    return ask(running.signal);
  };
}
