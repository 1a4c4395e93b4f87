// A browser for the service worker. It has the interfaces of the Service Worker, Push and
// Notifications specifications that the worker uses. It reads {script, windows, events, replies}
// from standard input, dispatches the events one after another, and writes the visible state.
const vm = require("node:vm");
const { script, windows, events, replies } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const origin = "https://ask.example.com";
const seen = { windows: [], shown: [], sent: [], subscribed: [], badge: 0, own: 0, errors: [] };
const listeners = {};
let mayInteract = false; // a person has pressed something: one window may be opened or focused
let shownNow = 0; // notifications since the push message arrived

const useInteraction = () => {
  if (!mayInteract) throw new DOMException("Not allowed to open or focus a window.", "InvalidAccessError");
  mayInteract = false;
};

// A WindowClient is one document of a window: navigation replaces it.
class WindowClient {
  constructor(state) {
    this.state = state;
    this.page = state.page;
    this.visibilityState = state.visible ? "visible" : "hidden";
    this.url = origin + state.page;
  }
  current() {
    if (this.state.page !== this.page || this.state.closed) throw new TypeError("The client was not found.");
  }
  async focus() {
    this.current();
    useInteraction();
    seen.windows.forEach((w) => (w.focused = false));
    this.state.focused = true;
    return this;
  }
  async navigate(url) {
    this.current();
    this.state.page = new URL(url, origin).pathname;
    return new WindowClient(this.state);
  }
}

const clients = {
  matchAll: async ({ type }) => (type === "window" ? seen.windows.map((w) => new WindowClient(w)) : []),
  openWindow: async (url) => {
    useInteraction();
    seen.windows.forEach((w) => (w.focused = false));
    seen.windows.push({ page: new URL(url, origin).pathname, visible: true, focused: true });
    return new WindowClient(seen.windows.at(-1));
  },
  claim: async () => {},
};

const close = (n) => (seen.shown = seen.shown.filter((shown) => shown !== n));
const registration = {
  showNotification: async (title, { tag = "", renotify = false, silent = false, ...rest } = {}) => {
    if (renotify && !tag) throw new TypeError("renotify needs a tag");
    const n = { title, tag, renotify, silent, ...rest };
    if (tag) seen.shown = seen.shown.filter((old) => old.tag !== tag);
    seen.shown.push(n);
    shownNow++;
  },
  getNotifications: async ({ tag = "" } = {}) =>
    seen.shown.filter((n) => !tag || n.tag === tag).map((n) => ({ ...n, close: () => close(n) })),
  pushManager: {
    subscribe: async (options) => {
      seen.subscribed.push(options);
      return { endpoint: "https://push.example.com/renewed", options };
    },
  },
};

const fetch = async (path, { method = "GET", body } = {}) => {
  seen.sent.push({ method, path, body: body === undefined ? "" : String(body) });
  const reply = replies?.[path];
  if (reply === undefined) throw new TypeError("Failed to fetch");
  return { ok: true, status: 200, json: async () => reply };
};

const navigator = { setAppBadge: async (n) => void (seen.badge = n), clearAppBadge: async () => void (seen.badge = 0) };
const worker = {
  addEventListener: (type, f) => (listeners[type] ||= []).push(f),
  clients,
  registration,
  fetch,
  navigator,
  URL,
  URLSearchParams,
  location: new URL(origin + "/sw.js"),
  caches: {},
  skipWaiting: async () => {},
};

async function dispatch(event) {
  const waiting = [];
  for (const f of listeners[event.type] || []) f({ ...event, waitUntil: (p) => waiting.push(p) });
  for (const result of await Promise.allSettled(waiting))
    if (result.status === "rejected") seen.errors.push(String(result.reason));
}

(async () => {
  seen.windows = windows || [];
  vm.runInNewContext(script, worker);
  for (const { type, data, tag, ...event } of events) {
    mayInteract = type === "notificationclick";
    shownNow = 0;
    if (data !== undefined) event.data = { json: () => JSON.parse(data) };
    if (tag !== undefined) {
      const pressed = seen.shown.find((n) => n.tag === tag);
      event.notification = { ...pressed, close: () => close(pressed) };
    }
    await dispatch({ type, ...event });
    // The browser shows "This site has been updated in the background".
    if (type === "push" && !shownNow && !seen.windows.some((w) => w.visible)) seen.own++;
  }
  console.log(JSON.stringify(seen));
})();
