// The page records, once, that an ask is on the screen. It does so when the page is visible, not
// when it is only loaded. An element of an open ask has the address in data-seen.
let seenAt = "";
function recordSeen() {
  const to = document.querySelector("[data-seen]")?.dataset.seen;
  if (!to || to === seenAt || document.hidden) return;
  seenAt = to;
  fetch(to, { method: "POST", body: new URLSearchParams({ seen: "1" }) }).catch(() => { seenAt = ""; });
}
recordSeen();
document.addEventListener("htmx:finally:swap", recordSeen);
document.addEventListener("visibilitychange", recordSeen);
