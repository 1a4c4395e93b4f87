// Typing into the field of Other picks Other. Without this script, people pick it.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || field.value.trim() === "") return;
  const other = document.getElementById(field.id.replace(/-other$/, "-pick-other"));
  if (other instanceof HTMLInputElement) other.checked = true;
});

// Typing claims the ask, at most once a minute. A claim holds the deadline, and other
// people see it.
let claimed = -Infinity;
document.addEventListener("input", (event) => {
  const form = event.target instanceof Element && event.target.closest("form.ask");
  if (!form || performance.now() - claimed < 60000) return;
  claimed = performance.now();
  fetch(form.getAttribute("action") + "/claim", { method: "POST" }).catch(() => {});
});

// The Approve button of a dangerous call is disabled for a moment whenever the page is
// shown again, as by the back button or from another tab (T12). The style sheet does this
// when the page is first shown.
function arm() {
  const buttons = document.querySelectorAll(".dangerous .approve");
  for (const button of buttons) button.disabled = true;
  clearTimeout(arm.timer);
  arm.timer = setTimeout(() => {
    for (const button of buttons) button.disabled = false;
  }, 1500);
}
addEventListener("pageshow", arm);
addEventListener("focus", arm);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) arm();
});

// The Approve button says that it approves the edited arguments.
document.addEventListener("input", (event) => {
  if (!(event.target instanceof HTMLTextAreaElement) || event.target.id !== "input") return;
  const button = document.querySelector(".buttons .approve");
  if (!button) return;
  button.dataset.label ||= button.textContent;
  button.textContent = event.target.value === event.target.defaultValue ? button.dataset.label : "Approve as edited";
});
