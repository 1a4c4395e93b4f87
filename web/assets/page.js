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
