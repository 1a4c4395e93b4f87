// The bar with the answers that can still be undone. It counts down, and shows the result of an
// answer. The server sends an answer at its time, even if the page is closed.
const heldBar = () => document.getElementById("held");
const heldItems = () => [...document.querySelectorAll("#held [data-left]")];
const untils = new Map(); // times when items are sent, by the ask and the time left when it was rendered
const endTime = 6000; // milliseconds for which the bar shows the result of an answer
const undoGuard = 500; // milliseconds; a key that is still pressed undoes nothing
let heldAt = -Infinity; // time when the button got the focus

const untilOf = (item) => {
  const key = item.dataset.ask + " " + item.dataset.left;
  if (!untils.has(key)) untils.set(key, performance.now() + Number(item.dataset.left));
  return untils.get(key);
};

function countDown() {
  clearTimeout(countDown.timer);
  const items = heldItems();
  let over = false;
  for (const item of items) {
    const left = untilOf(item) - performance.now();
    const text = left > 0 ? `Sent in ${Math.ceil(left / 1000)} s` : "Sending";
    const place = item.querySelector(".held-time");
    if (place.textContent !== text) place.textContent = text;
    over ||= left <= 0;
  }
  if (over) refreshHeld();
  if (items.length > 0) countDown.timer = setTimeout(countDown, over ? 700 : 200);
  else untils.clear();
}

// undoing contains the asks whose answers are being undone here. The next page shows their results,
// so the bar does not.
const undoing = new Set();
document.addEventListener("submit", (event) => {
  if (!event.target.closest("#held")) return;
  for (const input of event.target.querySelectorAll("[name=ask]")) undoing.add(input.value);
}, true);

// noticeHeld is called after each change of the page. The button of an answer that was just given
// gets the focus, once.
const focused = new Set();
function noticeHeld() {
  const button = [...document.querySelectorAll("#held button[data-focus]")].find(
    (one) => !focused.has(one.form.dataset.ask + one.form.dataset.left),
  );
  if (button) {
    focused.add(button.form.dataset.ask + button.form.dataset.left);
    undoing.delete(button.form.dataset.ask);
    heldAt = performance.now();
    button.focus({ preventScroll: true });
    announce(button.form.querySelector("p").textContent.replace(/\s+/g, " ").trim() + ". Undo: press u or Enter.");
  }
  countDown();
}
document.addEventListener("htmx:finally:swap", noticeHeld);
document.addEventListener("DOMContentLoaded", noticeHeld);

// refreshHeld loads the bar again. Several calls at the same time cause one load.
let refreshing = false;
let refreshAgain = false;
async function refreshHeld() {
  refreshAgain = true;
  if (refreshing) return;
  refreshing = true;
  try {
    while (refreshAgain) {
      refreshAgain = false;
      await loadHeld();
    }
  } catch {
    return; // the next tick tries again
  } finally {
    refreshing = false;
  }
}

async function loadHeld() {
  const query = new URLSearchParams(
    heldItems()
      .map((item) => item.dataset.ask)
      .filter((id) => !undoing.has(id))
      .map((id) => ["ask", id]),
  );
  const reply = await fetch("/held?" + query);
  const bar = heldBar();
  if (!reply.ok || reply.redirected || !bar) return;
  const page = new DOMParser().parseFromString(policy.createHTML(await reply.text()), "text/html");
  const fresh = page.getElementById("held");
  const active = bar.contains(document.activeElement) ? document.activeElement.form?.dataset.ask : null;
  const ends = [...fresh.querySelectorAll(".held-end")];
  const kept = [...bar.querySelectorAll(".held-end")];
  bar.replaceChildren(...fresh.childNodes, ...kept);
  htmx.process(bar);
  bar.hidden = bar.childElementCount === 0;
  if (active) document.querySelector(`#held [data-ask="${CSS.escape(active)}"] button`)?.focus({ preventScroll: true });
  if (ends.length > 0) announce(ends.map((end) => end.firstChild.textContent.trim()).join(" "));
  for (const end of ends) setTimeout(() => {
    end.remove();
    const now = heldBar();
    if (now && now.childElementCount === 0) now.hidden = true;
  }, endTime);
  countDown();
}
document.addEventListener("held", refreshHeld);
addEventListener("pageshow", (event) => { if (event.persisted) refreshHeld(); });

// The key that decided may still be pressed when Undo gets the focus.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#held button") || performance.now() - heldAt > undoGuard) return;
  event.preventDefault();
  event.stopPropagation();
}, true);
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.target.closest?.("#held")) event.preventDefault();
}, true);
