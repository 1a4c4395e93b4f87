// The service worker of the pages. The server writes "files", the hashed static files and
// the page for when there is no connection, and "version" in front of it. It stores these
// files and nothing else: no other page, no reply about an ask, nothing of a person.
addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(version).then((cache) => cache.addAll(files)));
});

addEventListener("activate", (event) => {
  const removeOld = (names) => Promise.all(names.filter((name) => name !== version).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(removeOld).then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  const request = event.request;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") {
    event.respondWith(fetch(request).catch(() => caches.match("/offline")));
    return;
  }
  const url = new URL(request.url);
  if (url.origin === location.origin && url.pathname !== "/offline" && files.includes(url.pathname)) {
    event.respondWith(caches.match(url.pathname).then((stored) => stored || fetch(request)));
  }
});
