// The service worker of the pages. In front of this text, the server writes "files", the list of
// the hashed static files and the page for a lost connection, and "version". The worker stores
// these files and nothing else: no other page, no reply about an ask, nothing of a person.
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

// A push message is about one ask. Its notification replaces an earlier one about the ask. Text of
// agents is shown unchanged, because notifications have no markup.
addEventListener("push", (event) => event.waitUntil(Promise.all([notify(read(event.data)), showBadge()])));

function read(data) {
  try {
    const m = data.json();
    if (
      typeof m.tag === "string" &&
      typeof m.title === "string" &&
      typeof m.path === "string" &&
      m.path.startsWith("/asks/")
    )
      return m;
  } catch {
    // This version does not know the message.
  }
  return { tag: "askback", title: "Askback", body: "Open the inbox to see what is new.", path: "/" };
}

// A page that is open tells of a new ask, too, because not every browser can reach a push service. A person who sees a
// page needs no notification.
addEventListener("message", (event) => {
  const m = event.data?.notify;
  if (m) event.waitUntil(notifyOnce(m, event.source?.id));
});

// The page that tells is hidden. The others may be visible.
async function notifyOnce(m, page) {
  const windows = await clients.matchAll({ type: "window" });
  if (windows.some((w) => w.id !== page && w.visibilityState === "visible")) return;
  if ((await registration.getNotifications({ tag: m.tag })).length === 0) await notify(m);
}

async function notify(m) {
  if (m.settled) {
    // Browsers require a notification for each message, unless a page shows it anyway.
    const windows = await clients.matchAll({ type: "window" });
    if (windows.some((w) => w.visibilityState === "visible")) {
      for (const shown of await registration.getNotifications({ tag: m.tag })) shown.close();
      return;
    }
  }
  // It has no icon, because that would be loaded first. The system shows the icon of the installed app.
  await registration.showNotification(m.title, {
    body: m.body,
    tag: m.tag,
    data: { path: m.path },
    timestamp: Date.now(),
    renotify: !m.settled,
    silent: !!m.settled,
    requireInteraction: !!m.urgent,
    actions: m.settled ? [] : [{ action: "open", title: "Open" }],
  });
}

// showBadge shows the number of open asks on the icon of the installed app.
async function showBadge() {
  if (!navigator.setAppBadge) return;
  try {
    const reply = await fetch("/open", { redirect: "error" });
    if (!reply.ok) return; // the person has logged out
    const { open } = await reply.json();
    await (open ? navigator.setAppBadge(open) : navigator.clearAppBadge());
  } catch {
    // There is no connection.
  }
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data?.path || "/"));
});

// openPage shows a page. It reuses a window that shows the page or the list. Another window may
// have an answer that was not sent.
async function openPage(path) {
  const windows = await clients.matchAll({ type: "window" });
  const shows = (page) => windows.find((w) => new URL(w.url).pathname === page);
  const window = shows(path) || shows("/");
  if (!window) return clients.openWindow(path);
  const focused = await window.focus(); // focused first, because navigate makes this window another client
  if (new URL(focused.url).pathname !== path) await focused.navigate(path);
}

// A browser may replace its subscription on its own.
addEventListener("pushsubscriptionchange", (event) => {
  const renew = async () => {
    const options = event.oldSubscription?.options;
    const subscription = event.newSubscription || (options && (await registration.pushManager.subscribe(options)));
    if (!subscription) return; // the inbox makes it again
    await fetch("/push", { method: "POST", body: new URLSearchParams({ address: JSON.stringify(subscription) }) });
  };
  event.waitUntil(renew());
});
