// A person can approve a dangerous call by holding a button with a pointer, instead of typing the
// word. The hold fills in the word and presses Approve; the server checks the word.
const holdTime = 1200; // milliseconds, as in the style sheet

function showHold() {
  for (const button of document.querySelectorAll(".hold")) button.hidden = false;
}
document.addEventListener("DOMContentLoaded", showHold);
document.addEventListener("htmx:finally:swap", showHold);

let held = null;
function release() {
  if (!held) return;
  clearTimeout(release.timer);
  held.classList.remove("is-held");
  held.firstElementChild.textContent = "Or hold here to approve";
  held = null;
}
document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest?.(".hold");
  const approve = button?.closest("form").querySelector(".approve-once");
  if (
    !button ||
    event.button !== 0 ||
    !event.isTrusted ||
    approve.disabled ||
    getComputedStyle(approve).visibility !== "visible"
  )
    return;
  held = button;
  const from = placeOf(button);
  button.classList.add("is-held");
  button.firstElementChild.textContent = "Keep holding…";
  release.timer = setTimeout(() => {
    release();
    if (approve.disabled || !button.isConnected || !isUnmoved(from, button)) return;
    document.getElementById("word").value = button.dataset.word;
    approve.click();
  }, holdTime);
});
for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, release);
document.addEventListener("pointerout", (event) => {
  if (held && !held.contains(event.relatedTarget)) release();
});
document.addEventListener("contextmenu", (event) => {
  if (event.target.closest?.(".hold")) event.preventDefault();
});
