// A bar says within seconds that the server cannot be reached, and goes when it can be reached again. While the
// page is visible, a small request every two seconds finds that out. The streams alone would not: a server that
// hangs, or a connection that a sleeping computer has lost, reports nothing.
const pingPause = 2000; // milliseconds
const pingPatience = 2500; // milliseconds after which a request without a reply counts as lost
const pingEnd = 10000; // milliseconds after which it is given up
const pings = new Map(); // requests without a reply, with their controllers, by number
let lastPing = 0;
let newestPing = 0; // number of the newest request with a result
let failedPings = 0; // failures since the last reply
let isLost = false;

async function ping() {
  if (document.hidden) return;
  if (pings.size > 2) drop(pings.keys().next().value); // a browser has few connections to a server
  const n = ++lastPing;
  const control = new AbortController();
  pings.set(n, control);
  const late = setTimeout(() => notePing(n, false, true), pingPatience);
  const end = setTimeout(() => control.abort(), pingEnd);
  try {
    const reply = await fetch("/healthz", { cache: "no-store", signal: control.signal });
    notePing(n, ![502, 503, 504].includes(reply.status)); // a proxy replies in place of the server
  } catch {
    if (pings.has(n)) notePing(n, false);
  } finally {
    clearTimeout(late);
    clearTimeout(end);
    pings.delete(n);
  }
}

function drop(n) {
  const control = pings.get(n);
  pings.delete(n);
  control.abort();
}

// notePing takes the result of a request. A failure counts only if a second request fails, too: a browser drops
// requests when it leaves the page. A result that is older than another one does not count.
function notePing(n, replied, isLate) {
  if (n < newestPing) return;
  newestPing = n;
  failedPings = replied ? 0 : failedPings + 1;
  if (replied || isLate || failedPings > 1) showLost(!replied);
  else setTimeout(ping, 300);
}

// pingNow drops the requests without a reply, which may belong to a connection that is gone.
function pingNow() {
  for (const n of [...pings.keys()]) drop(n);
  ping();
}

function showLost(lost) {
  if (lost === isLost) return;
  isLost = lost;
  const bar = document.getElementById("connection");
  if (bar)
    bar.textContent = lost ? "No connection to Askback. This page may be out of date. It tries again by itself." : "";
  if (!lost) connectAgain();
}

// connectAgain is called when the server can be reached again. A stream may hang, wait for its next attempt, or
// never have been opened.
function connectAgain() {
  announce("Connected again.");
  if (document.querySelector("[data-offline]")) return location.reload();
  if (typeof listenAgain === "function") listenAgain(); // pages without an inbox do not listen
  for (const element of document.querySelectorAll("[hx-sse\\:connect]")) {
    const stream = element._htmx?.sse;
    if (!stream) {
      htmx.trigger(element, "htmx:abort");
      setTimeout(() => openStream(element));
      continue;
    }
    stream.attempt = 0; // the next attempt follows soon
    stream.delayCanceller?.();
    if (stream.reader) stream.reader.cancel().catch(() => {});
    else stream.abortController?.abort();
  }
  const unsent = document.querySelector("#unsent[data-unreachable]");
  if (!unsent) return;
  unsent.removeAttribute("data-unreachable");
  unsent.dataset.calm = "true";
  unsent.textContent = "Connected again. What you filled in is still here, and was not sent yet.";
}

// openStream opens the stream of an element. htmx does so once only, and gives up if that fails.
function openStream(element) {
  if (element.isConnected && !element._htmx?.sse)
    htmx.ajax("GET", element.getAttribute("hx-sse:connect"), { source: element });
}

for (const name of ["htmx:error", "htmx:response:error"]) {
  document.addEventListener(name, ({ target, detail }) => {
    if (name === "htmx:error" && !isLost) ping();
    const refused = detail.ctx?.response?.status < 500; // by a server that will not change its mind
    if (target.matches?.("[hx-sse\\:connect]") && !refused) setTimeout(() => openStream(target), pingPause);
  });
}

setInterval(() => {
  const now = Date.now();
  const slept = now - (ping.tick || now) > 3 * pingPause;
  ping.tick = now;
  if (slept) pingNow();
  else ping();
}, pingPause);
for (const name of ["online", "offline", "pageshow", "focus"]) addEventListener(name, pingNow);
document.addEventListener("visibilitychange", pingNow);
