// htmx parses only HTML of this server, in which text of agents is escaped. This policy allows
// that; the Content-Security-Policy allows no other policy.
const policy = window.trustedTypes
  ? trustedTypes.createPolicy("askback", { createHTML: (html) => html, createScriptURL: serviceWorkerURL })
  : { createHTML: (html) => html, createScriptURL: serviceWorkerURL };

// The service worker is the only script that a script may load.
function serviceWorkerURL(url) {
  if (url !== "/sw.js") throw new TypeError("this script must not be loaded");
  return url;
}
htmx.registerExtension("trusted", {
  init: (api) => api.initSecurity(policy),
  // The list is changed in place, so that it does not flicker or scroll. An ask is always
  // replaced: what was chosen or typed for one must never be in the form of another.
  htmx_before_morph_node: (_, { oldNode, newNode }) => {
    if (oldNode.id === "list") keepLoadedRows(oldNode, newNode);
    if (keepsField() && (oldNode.id === "search" || oldNode.id === "detail")) return false;
    if (oldNode.classList?.contains("is-measured")) newNode.classList.add("is-measured");
    if (oldNode.localName === "details" && oldNode.closest(".timeline, .cancel-run"))
      newNode.toggleAttribute("open", oldNode.open);
    if (oldNode.id === "open-ask" && oldNode.dataset.open === newNode.dataset?.open) return false;
    if (oldNode.id === "open-ask") oldNode.dataset.open = newNode.dataset.open;
    else if (oldNode.id !== "detail") return true;
    oldNode.replaceChildren(...newNode.childNodes);
    htmx.process(oldNode);
    return false;
  },
});

const rows = () => [...document.querySelectorAll("#list > .row")];
const openRows = () => rows().filter((row) => !row.matches(".is-settled, .is-held"));
const currentID = () =>
  (location.pathname.match(/^\/(?:asks|history)\/(ask_[0-9a-z]+)$/) || [])[1] ||
  document.getElementById("open-ask")?.dataset.open ||
  "";
const prefersNoMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// refresh marks the row of the open ask, and shows the number of open asks in the heading,
// the title and the icon.
function refresh() {
  const id = currentID();
  for (const row of rows()) {
    const is = row.dataset.ask === id;
    row.classList.toggle("is-current", is);
    row.querySelector(".row-link").setAttribute("aria-current", String(is));
  }
  const list = document.getElementById("list");
  if (list?.dataset.view !== refresh.view) {
    later.clear();
    furtherPages.clear();
  }
  refresh.view = list?.dataset.view;
  const count = openRows().length + later.size + (list?.hasAttribute("data-more") ? "+" : "");
  showIcon(count);
  if (!list) return;
  const shown = document.getElementById("count");
  if (shown && shown.textContent !== count) shown.textContent = count;
  const title = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = count === "0" ? title : `(${count}) ${title}`;
  const empty = document.getElementById("list-empty");
  if (empty) empty.hidden = rows().length > 0;
  for (const head of list.querySelectorAll(":scope > .group")) {
    if (!head.nextElementSibling?.classList.contains("row")) head.remove();
  }
}

// showIcon shows the number of open asks in the icon of the tab.
function showIcon(count) {
  const icon = document.getElementById("icon");
  if (!icon) return;
  const path =
    parseInt(count) === 0
      ? icon.dataset.plain
      : icon.dataset.counted.replace("NUMBER", /^[1-9]$/.test(count) ? count : "many");
  if (icon.getAttribute("href") !== path) icon.setAttribute("href", path);
}
document.addEventListener("htmx:finally:swap", refresh);
document.addEventListener("DOMContentLoaded", () => {
  refresh();
  document.querySelector("#list > .row.is-current")?.scrollIntoView({ block: "nearest" });
});
addEventListener("popstate", () => setTimeout(refresh));

// The list never moves under a pointer or under the eyes of a person. New rows go to their places.
// If these are above the visible rows, a button leads to them.
let movedAt = -Infinity;
const scroller = (list) => {
  const pane = list.closest(".list-pane");
  return pane && getComputedStyle(pane).overflowY === "auto" ? pane : document.scrollingElement;
};

// shownRows returns the visible rows, with their places.
function shownRows() {
  const places = new Map();
  for (const row of rows()) {
    const { top, bottom } = row.getBoundingClientRect();
    if (top > innerHeight) break;
    if (bottom > 0) places.set(row.id, top);
  }
  return places;
}

// noteMoves is called after a change, with the rows that were visible before it. If any of them
// moved or left, the buttons in rows have no effect for a moment.
function noteMoves(before) {
  for (const [id, top] of before) {
    const row = document.getElementById(id);
    if (!row || Math.abs(row.getBoundingClientRect().top - top) > 1) movedAt = performance.now();
  }
}

// keepPlace changes the list. If possible, the first visible row stays in its place.
function keepPlace(list, change) {
  const box = scroller(list);
  const head = document.querySelector(".list-head").getBoundingClientRect().bottom;
  const before = shownRows();
  const first = [...before.keys()].map((id) => document.getElementById(id))
    .find((row) => !row.classList.contains("is-leaving") && row.getBoundingClientRect().bottom > head);
  change();
  if (first?.isConnected) box.scrollTop += first.getBoundingClientRect().top - before.get(first.id);
  noteMoves(before);
}

// Changes by htmx can move rows, too: a settled row gets smaller, and a row that was answered here
// leaves.
let beforeSwap = null;
document.addEventListener("htmx:before:swap", () => { beforeSwap ||= shownRows(); });
document.addEventListener("htmx:finally:swap", () => {
  if (beforeSwap) noteMoves(beforeSwap);
  beforeSwap = null;
});

// A click with a pointer decides an ask only after the ask has been visible for a moment. So the
// second click of a double click does not decide the next ask.
let arrivedAt = -Infinity;
const isEarly = (event) => {
  const button = event.target.closest?.("button");
  const since = (at) => performance.now() - at <= readingTime;
  return (
    (button?.matches(".quick button:not([name=until])") && since(movedAt)) ||
    (button?.closest("form.ask") && event.detail > 0 && since(arrivedAt)) ||
    (button?.closest(".bulk") && !mayDecide())
  );
};

const readingTime = 500; // milliseconds
document.addEventListener("click", (event) => {
  if (!isEarly(event)) return;
  event.preventDefault();
  event.stopPropagation();
  announce("The page has just changed. Press again.");
}, true);

// furtherPages has the ids of the elements that were loaded with further pages.
const furtherPages = new Set();

// later contains the new asks of pages that are not loaded yet. They are counted, and not shown.
const later = new Set();

// putInPlace moves a row, or the heading of a group, into the list. A new row of a later page
// is only counted.
function putInPlace(list, element, isLoaded) {
  const old = document.getElementById(element.id);
  if (old && old !== element && list.contains(old)) {
    if (element.classList.contains("group")) return element.remove();
    old.remove();
  }
  const isLast = !(list.lastElementChild?.dataset.place > element.dataset.place);
  if (isLast && !isLoaded && list.hasAttribute("data-more")) {
    if (element.dataset.ask) later.add(element.dataset.ask);
    return element.remove();
  }
  later.delete(element.dataset.ask);
  if (isLoaded) furtherPages.add(element.id);
  list.insertBefore(
    element,
    isLast ? null : [...list.children].find((other) => other.dataset.place > element.dataset.place),
  );
}

function takeIncoming() {
  const incoming = document.getElementById("incoming");
  const list = document.getElementById("list");
  if (!list || !incoming?.firstElementChild) return;
  keepPlace(list, () => {
    for (const element of [...incoming.children]) putInPlace(list, element);
  });
  refresh();
  const head = document.querySelector(".list-head").getBoundingClientRect().bottom;
  const above = rows().filter((row) => row.hasAttribute("data-fresh") && row.getBoundingClientRect().bottom <= head);
  showAbove(above.length);
}
document.addEventListener("htmx:after:swap", takeIncoming);
document.addEventListener("htmx:finally:swap", takeIncoming);

function showAbove(n) {
  const button = document.getElementById("new-rows");
  if (!button) return;
  button.textContent = n + " new ↑";
  button.hidden = n === 0;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#new-rows")) return;
  const list = document.getElementById("list");
  scroller(list).scrollTo({ top: 0, behavior: prefersNoMotion() ? "auto" : "smooth" });
});
// Fresh rows above the visible ones are no longer new once a person has scrolled to them.
document.addEventListener("scroll", () => {
  const button = document.getElementById("new-rows");
  if (!button || button.hidden) return;
  const head = document.querySelector(".list-head").getBoundingClientRect().bottom;
  const above = rows().filter((row) => {
    if (!row.hasAttribute("data-fresh")) return false;
    if (row.getBoundingClientRect().bottom > head) row.removeAttribute("data-fresh");
    return row.hasAttribute("data-fresh");
  });
  showAbove(above.length);
}, { capture: true, passive: true });


// A menu of the list applies immediately; without scripts, its button applies it.
document.addEventListener("change", (event) => {
  if (event.target.matches?.("#view select")) event.target.form.requestSubmit();
});

// An ask that another person settled stays in the list for a moment, then it leaves.
const leaveAfter = 4000;
document.addEventListener("settled", (event) => {
  const [id, ...words] = event.detail.data.split(" ");
  const row = document.getElementById("row-" + id);
  later.delete(id);
  refresh();
  if (row) setTimeout(() => leave(row), leaveAfter);
  const form = document.querySelector(`form.ask[data-ask="${CSS.escape(id)}"]`);
  if (form && !form.dataset.sent) showSettled(form, words.join(" "));
});

// An ask that was snoozed elsewhere leaves the list immediately, unless it is open.
document.addEventListener("gone", (event) => {
  const id = event.detail.data.trim();
  const row = document.getElementById("row-" + id);
  later.delete(id);
  if (!row || row.classList.contains("is-current")) return refresh();
  keepPlace(row.parentElement, () => {
    row.remove();
    refresh();
  });
});

function leave(row) {
  if (!row.isConnected || row.classList.contains("is-current")) return;
  const remove = () => {
    keepPlace(row.parentElement, () => {
      row.remove();
      refresh();
    });
  };
  if (prefersNoMotion()) return remove();
  row.classList.add("is-leaving");
  setTimeout(remove, 250);
}

// showSettled replaces the form of an ask that was settled elsewhere by its outcome. The text that
// the person typed is shown below it. If the same person settled the ask in another window, own is
// a sentence about it.
async function showSettled(form, own) {
  const chosen = [...form.querySelectorAll(".choice input:checked")].map((input) => [
    "Chosen",
    input.closest("label").querySelector(".name").textContent,
  ]);
  const typed = [...form.querySelectorAll("textarea")]
    .filter(
      (field) =>
        field.value.trim() !== "" &&
        (field.id !== "input" || field.value !== field.defaultValue || field.hasAttribute("data-edited")),
    )
    .map((field) => [field.labels[0]?.textContent || "", field.value]);
  const kept = [...chosen, ...typed];
  await htmx.ajax("GET", location.pathname + location.search, { target: "body", swap: "innerMorph" });
  announce(own ? "" : "This ask was settled elsewhere.");
  if (own) {
    const notice = document.createElement("p");
    notice.className = "done-notice";
    notice.setAttribute("role", "status");
    notice.textContent = own + ".";
    document.getElementById("detail")?.prepend(notice);
  }
  if (kept.length === 0) return;
  const section = document.createElement("section");
  section.className = "card draft";
  const heading = document.createElement("h2");
  heading.textContent = "What you filled in was not sent";
  section.append(heading);
  for (const [label, value] of kept) {
    const name = document.createElement("p");
    name.className = "label";
    name.textContent = label;
    const text = document.createElement("div");
    text.className = "plain-text";
    text.textContent = value;
    section.append(name, text);
  }
  (document.getElementById("kept") || document.getElementById("detail"))?.append(section);
}

// After an ask, the next one is the ask below it in the displayed list. The server knows neither
// which pages of the list are loaded nor which rows have moved.
document.addEventListener("submit", (event) => {
  const then = event.target.querySelector?.('input[name="then"][value="next"]');
  const current = document.querySelector("#list > .row.is-current");
  if (!then || !current) return;
  const below = rows().slice(rows().indexOf(current) + 1).find((row) => !row.matches(".is-settled, .is-held"));
  if (below) then.value = below.dataset.ask;
}, true);

document.addEventListener("submit", (event) => {
  if (event.target.matches("form.ask")) event.target.dataset.sent = "true";
});

// The page has changed, or events are missing in the stream, so the page is loaded again. Changes
// in the meantime cause one more load.
let reloading = false;
let changedMeanwhile = false;
document.addEventListener("reload", async () => {
  changedMeanwhile = true;
  if (reloading) return;
  reloading = true;
  try {
    while (changedMeanwhile) {
      changedMeanwhile = false;
      await htmx.ajax("GET", location.pathname + location.search, { target: "body", swap: "innerMorph" });
    }
  } finally {
    reloading = false;
  }
});

function announce(text) {
  const place = document.getElementById("announcer");
  if (place) place.textContent = text;
}

// Keys. A key that decides works only after its ask has been on the screen for a moment, so that a
// double press does not decide the next ask unseen.
let shownID = "";
function arrive(event) {
  if (currentID() === shownID && shownID !== "") return;
  shownID = currentID();
  if (event.type !== "DOMContentLoaded") arrivedAt = performance.now();
  cancelDecision();
  waitForPause(isTyping() ? typingTime : pauseTime);
}
document.addEventListener("htmx:finally:swap", arrive);
document.addEventListener("DOMContentLoaded", arrive);
function open(row) {
  if (!row) return;
  row.querySelector(".row-link").click();
  row.scrollIntoView({ block: "nearest" });
}

// move opens the next row. While the key is held, it only marks the rows. It opens the last one
// when the key rests.
const restTime = 150; // milliseconds
function move(step, held) {
  const all = document.getElementById("list")?.hasAttribute("data-history") ? rows() : openRows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.classList.contains("is-current"));
  const row = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  clearTimeout(move.timer);
  if (!held) return open(row);
  delete document.body.dataset.keys; // the marked row is not the open one
  shownID = "";
  all[at]?.classList.remove("is-current");
  row.classList.add("is-current");
  row.scrollIntoView({ block: "nearest" });
  move.timer = setTimeout(() => open(row), restTime);
}

// The link of the empty pane opens the first row of the list as it is now, which may be another than the link has.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.(".open-first") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation(); // htmx would follow the link
  move(1);
}, true);

// choose picks the n-th option of the first question without an answer.
function choose(n) {
  const questions = [...document.querySelectorAll("form.ask fieldset.question")];
  const question =
    questions.find((q) => !q.querySelector("input:checked")) ||
    questions.find((q) => q.contains(document.activeElement)) ||
    questions[0];
  const input = question?.querySelectorAll(".choice.from-agent input")[n - 1];
  if (!input) return;
  input.click();
  input.focus();
}

// press presses a button that decides.
function press(selector) {
  const button = document.querySelector(selector);
  if (!button || button.disabled) return;
  if (!mayDecide()) return ignoreKeys();
  button.click();
}

// write opens an element with a field, and puts the cursor into the field.
function write(selector) {
  const field = document.querySelector(selector);
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
}

const keys = {
  j: (held) => move(1, held),
  k: (held) => move(-1, held),
  g: () => { gone = performance.now(); },
  s: () => {
    const menu = document.getElementById("snooze");
    if (!menu) return;
    menu.open = true;
    menu.querySelector("button").focus();
  },
  u: () => document.querySelector("#held button, .back a")?.click(),
  a: () => decideSelected() || decideSoon(".decision:not(.dangerous) .approve-once"),
  d: () => decideSelected() || decideSoon(".bar .deny"),
  e: () => {
    const field = document.getElementById("input");
    if (!field) return;
    field.closest("details").open = true;
    field.focus();
  },
  o: () => write("form.ask textarea[id$='-other']"),
  n: () => write("form.ask textarea[id$='-notes'], form.ask .more:not(.decline) #reason"),
  c: () => write("form.ask #comment"),
  D: () => write("form.ask .decline :is(textarea, button)"),
  A: () => write("form.ask .standing-approval :is(input:checked, input)"),
  r: () => document.querySelector(".reassign-link")?.click(),
  "/": () => document.getElementById("search")?.focus(),
  "?": () => document.getElementById("keys")?.showModal(),
};

// Ctrl+Enter, or Command+Enter, sends the answers from a text field. A call has two decisions, so
// there the keys have no effect.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isComposing(event) || event.repeat) return;
  if (!event.target.matches("form.ask :is(textarea, input)")) return;
  event.preventDefault();
  press("form.ask .bar button[value=answer]");
});

// A confirmation in the list leaves after a while, and is not shown again when the page is loaded
// again. Next to an open ask it stays, because otherwise the ask would move.
const noticeTime = 10000; // milliseconds
function endNotice() {
  const here = new URL(location.href);
  if (
    document.getElementById("list") &&
    !document.querySelector("#list[data-history]") &&
    here.searchParams.has("done")
  ) {
    here.searchParams.delete("done");
    history.replaceState(history.state, "", here);
  }
  const notice = document.querySelector(".inbox:not(.is-open) .done-notice");
  if (!notice || endNotice.notice === notice && endNotice.text === notice.textContent) return;
  [endNotice.notice, endNotice.text] = [notice, notice.textContent];
  clearTimeout(endNotice.timer);
  const end = () => {
    if (notice.matches(":hover, :focus-within")) endNotice.timer = setTimeout(end, noticeTime);
    else if (document.querySelector(".inbox:not(.is-open)")) notice.remove();
  };
  endNotice.timer = setTimeout(end, noticeTime);
}
document.addEventListener("htmx:finally:swap", endNotice);
document.addEventListener("DOMContentLoaded", endNotice);

// After g, a second key opens a page.
const goTime = 1500; // milliseconds
let gone = -Infinity;
const goes = { i: "/", h: "/history" };

document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    isComposing(event) ||
    (event.repeat && !"jk".includes(event.key))
  )
    return;
  const field = event.target.closest("textarea, input:not([type=radio]):not([type=checkbox]), select, dialog");
  if (event.key === "Escape" && field && !field.matches("dialog")) return field.blur();
  if (field) return;
  const go = performance.now() - gone < goTime && goes[event.key];
  gone = -Infinity;
  const act =
    (go && (() => document.querySelector(`.nav a[href="${go}"]`)?.click())) ||
    keys[event.key] ||
    (/^[1-9]$/.test(event.key) &&
      document.querySelector("form.ask fieldset.question") &&
      (() => choose(Number(event.key))));
  if (!act) return;
  event.preventDefault();
  act(event.repeat);
  if (!"ad".includes(event.key) && !/^[1-9]$/.test(event.key)) typing.keys = 0; // a command, not a text
});
