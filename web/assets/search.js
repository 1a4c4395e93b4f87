// A search applies while it is typed. The field keeps its focus and its caret, and an open ask stays open. Enter works
// without this script.
const searchPause = 200; // milliseconds without typing
const searching = { timer: 0, running: false, address: "" };
const keepsField = () => searching.running;

// searchAddress returns the address of the page with the typed search.
function searchAddress(field) {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(field.form)) if (value !== "") values.append(name, value);
  const list = field.form.getAttribute("action");
  const below = list === "/" ? "/asks/" : list + "/";
  const path = location.pathname.startsWith(below) ? location.pathname : list;
  return path + (values.size > 0 ? "?" + values : "");
}

// searchNow loads the page with the typed search. It replaces the address: the back button leaves the search in one
// step.
async function searchNow(field) {
  if (searching.running || !field.isConnected) return;
  searching.running = true;
  searching.address = location.pathname + location.search;
  try {
    for (let address = searchAddress(field); address !== searching.address; address = searchAddress(field)) {
      searching.address = address;
      await htmx.ajax("GET", address, { target: "body", swap: "innerMorph", replace: address });
      if (!field.isConnected) return;
    }
    if (document.getElementById("count")) announce(`${openRows().length} found`);
  } finally {
    searching.running = false;
  }
}

function searchSoon(event) {
  const field = event.target;
  if (!field.matches?.("form.search input[type=search]") || event.isComposing) return;
  clearTimeout(searching.timer);
  searching.timer = setTimeout(() => searchNow(field), searchPause);
}
document.addEventListener("input", searchSoon);
document.addEventListener("compositionend", searchSoon);
document.addEventListener("submit", () => clearTimeout(searching.timer));
