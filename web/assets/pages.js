// The next page of the list is loaded before a person has scrolled to its end. Its rows go to their
// places. Without this script, a link leads to the next page.
const loadAhead = "1200px"; // below the visible part
const nextPage = () => document.querySelector("#list:not([data-history]) ~ .list-next a");
let loading = false;
let watched = null; // the link that the observer watches
let observer = null;

async function loadNextPage() {
  const link = nextPage();
  const list = document.getElementById("list");
  if (!link || loading) return;
  loading = true;
  try {
    const reply = await fetch("/rows" + link.search);
    if (!reply.ok || reply.redirected || nextPage() !== link) return;
    const page = new DOMParser().parseFromString(policy.createHTML(await reply.text()), "text/html");
    const next = page.querySelector(".list-next");
    if (nextPage() !== link) return; // another list is shown now
    keepPlace(list, () => {
      for (const element of [...page.querySelector("#more-rows").children]) putInPlace(list, element, true);
      list.toggleAttribute("data-more", next !== null);
      link.closest(".list-next").replaceChildren(...(next ? next.children : []));
    });
    list.dataset.loaded = "true";
    htmx.process(list);
    refresh();
    markMeasured();
    watched = null;
  } catch {
    return; // the link is still there
  } finally {
    loading = false;
  }
  watchEnd();
}

// watchEnd loads the next page when its link is near the visible part.
function watchEnd() {
  const link = nextPage();
  if (link === watched) return;
  observer?.disconnect();
  watched = link;
  if (!link) return;
  const box = scroller(document.getElementById("list"));
  observer = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) loadNextPage();
  }, { root: box === document.scrollingElement ? null : box, rootMargin: `0px 0px ${loadAhead} 0px` });
  observer.observe(link);
}
document.addEventListener("htmx:finally:swap", watchEnd);
document.addEventListener("DOMContentLoaded", watchEnd);

// markMeasured marks the rows whose size the browser knows. The browser remembers the size of a row when it tells
// observers of it. A row that is marked before that would take an estimated height, and move the list.
const sizes = new ResizeObserver((entries) => {
  requestAnimationFrame(() => {
    for (const { target } of entries) {
      target.classList.add("is-measured");
      sizes.unobserve(target);
    }
  });
});
function markMeasured() {
  for (const row of rows()) if (!row.classList.contains("is-measured")) sizes.observe(row);
}
document.addEventListener("htmx:finally:swap", markMeasured);
document.addEventListener("DOMContentLoaded", markMeasured);

// keepLoadedRows is called before a list is changed into the first page of the same list. It adds
// the rows of the other loaded pages.
function keepLoadedRows(list, first) {
  if (!list.dataset.loaded || list.dataset.view !== first.dataset.view) return;
  const last = first.lastElementChild?.dataset.place || "";
  const known = new Set([...first.children].map((element) => element.id));
  for (const element of list.children) {
    if (known.has(element.id) || !(element.dataset.place > last) && !furtherPages.has(element.id)) continue;
    first.insertBefore(
      element.cloneNode(true),
      [...first.children].find((other) => other.dataset.place > element.dataset.place) || null,
    );
  }
  first.dataset.loaded = "true";
  first.toggleAttribute("data-more", list.hasAttribute("data-more"));
  const [before, after] = [list, first].map((one) => one.parentElement?.querySelector(".list-next"));
  if (before && after) after.replaceChildren(...[...before.childNodes].map((node) => node.cloneNode(true)));
}
