// Several asks are selected to decide them on one page. The selection survives changes of the list,
// and ends with the page that decides.
const selected = new Set();
let lastSelected = "";

const boxOf = (row) => row.querySelector(".row-select input");

function showSelection() {
  const ids = new Set(openRows().map((row) => row.dataset.ask));
  if (document.getElementById("decide")) for (const id of selected) if (!ids.has(id)) selected.delete(id);
  if (document.querySelector(".bulk")) selected.clear();
  for (const row of rows()) {
    const box = boxOf(row);
    if (box) box.checked = selected.has(row.dataset.ask);
    row.classList.toggle("is-selected", selected.has(row.dataset.ask));
  }
  const button = document.querySelector("#decide button");
  if (!button) return;
  button.textContent = selected.size > 0 ? `Decide ${selected.size}…` : "Select what to decide";
  button.disabled = selected.size === 0;
}
document.addEventListener("htmx:finally:swap", showSelection);
document.addEventListener("DOMContentLoaded", showSelection);
document.addEventListener("settled", () => setTimeout(showSelection));
// After the back button, the browser may have restored the checkboxes.
addEventListener("pageshow", () => {
  for (const row of openRows()) if (boxOf(row)?.checked) selected.add(row.dataset.ask);
  showSelection();
});

function select(row, is) {
  const id = row.dataset.ask;
  if (is) selected.add(id);
  else selected.delete(id);
  lastSelected = id;
}

document.addEventListener("change", (event) => {
  if (!event.target.matches?.(".row-select input")) return;
  select(event.target.closest(".row"), event.target.checked);
  showSelection();
});

// A click with the shift key selects the rows from the last selected one on.
document.addEventListener("click", (event) => {
  const box = event.target.closest?.(".row-select input");
  if (box && event.shiftKey && box.checked) selectTo(box.closest(".row"));
});

function selectTo(row) {
  const all = openRows();
  const from = all.findIndex((other) => other.dataset.ask === lastSelected);
  const to = all.indexOf(row);
  if (to < 0) return;
  for (const one of all.slice(Math.min(from < 0 ? to : from, to), Math.max(from, to) + 1))
    selected.add(one.dataset.ask);
  lastSelected = row.dataset.ask;
  showSelection();
  announce(`${selected.size} selected`);
}

// focusedRow returns the row with the focus, the open row, or the first row.
const focusedRow = () =>
  document.activeElement?.closest?.("#list > .row") ||
  openRows().find((row) => row.classList.contains("is-current")) ||
  openRows()[0];

// decideSelected opens the page that decides the selected asks, if there are any.
function decideSelected() {
  const form = document.getElementById("decide");
  if (selected.size === 0 || !form) return false;
  form.requestSubmit();
  return true;
}

Object.assign(keys, {
  x: () => {
    const row = focusedRow();
    if (!row || !boxOf(row)) return;
    select(row, !selected.has(row.dataset.ask));
    showSelection();
    announce(`${selected.size} selected`);
  },
  X: () => { if (focusedRow()) selectTo(focusedRow()); },
});

// The buttons of the page that decides show the number of checked boxes.
function countBoxes() {
  const form = document.querySelector("form.bulk");
  if (!form) return;
  const n = form.querySelectorAll("input[name=ask]:checked").length;
  for (const button of form.querySelectorAll("button[name=action]")) {
    button.textContent = (button.value === "approve" ? "Approve " : "Deny ") + n;
    button.disabled = n === 0;
  }
}
document.addEventListener("change", countBoxes);
document.addEventListener("htmx:finally:swap", countBoxes);
addEventListener("pageshow", countBoxes);
