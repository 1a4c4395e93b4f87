// Whoever writes an answer of their own has chosen Other. Without this script they
// choose it themselves.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || field.value.trim() === "") return;
  const own = document.getElementById(field.id.replace(/-other$/, "-own"));
  if (own instanceof HTMLInputElement) own.checked = true;
});

// Whoever begins to answer claims the ask, and again while they go on: the deadline
// waits for them, and others see who is at it.
let claimed = -Infinity;
document.addEventListener("input", (event) => {
  const form = event.target instanceof Element && event.target.closest("form.ask");
  if (!form || performance.now() - claimed < 60000) return;
  claimed = performance.now();
  fetch(form.getAttribute("action") + "/claim", { method: "POST" }).catch(() => {});
});

// A dangerous call that comes into sight again, by going back or from another tab, has to
// be looked at again before it can be approved (T12). The style sheet does it at first.
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

// Whoever changed the arguments sees on the button that it is for their version.
document.addEventListener("input", (event) => {
  if (!(event.target instanceof HTMLTextAreaElement) || event.target.id !== "input") return;
  const button = document.querySelector(".buttons .approve");
  if (!button) return;
  button.dataset.words ||= button.textContent;
  button.textContent = event.target.value === event.target.defaultValue ? button.dataset.words : "Approve as edited";
});
