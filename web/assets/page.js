// Typing into the field of Other picks Other. Without this script, people pick it themselves.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || field.value.trim() === "") return;
  const other = document.getElementById(field.id.replace(/-other$/, "-pick-other"));
  if (other instanceof HTMLInputElement) other.checked = true;
});

// An opened element with a text field gets the focus. Without the focus, letters would be keys.
document.addEventListener("click", (event) => {
  const opened = event.target.closest?.("form.ask summary")?.parentElement;
  if (opened) setTimeout(() => { if (opened.open) opened.querySelector("textarea")?.focus(); });
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

// The Approve button states that it approves the edited arguments.
document.addEventListener("input", (event) => {
  if (!(event.target instanceof HTMLTextAreaElement) || event.target.id !== "input") return;
  const button = document.querySelector(".approve-once");
  if (!button) return;
  button.dataset.label ||= button.textContent;
  button.textContent = event.target.value === event.target.defaultValue ? button.dataset.label : "Approve as edited";
});

// The text next to Send names what is still missing. Send works anyway: the server reports what is
// wrong.
function showMissing() {
  const place = document.getElementById("missing");
  if (!place) return;
  const questions = [...place.closest("form").querySelectorAll("fieldset.question")];
  const isAnswered = (q) =>
    q.querySelector(".choice input:checked:not([value=own])") ||
    q.querySelector("textarea[id$='-other']")?.value.trim();
  const missing = questions.flatMap((q, i) => (q.hasAttribute("data-required") && !isAnswered(q) ? [i + 1] : []));
  let text = "";
  if (missing.length > 1) text = `Still to answer: questions ${missing.slice(0, -1).join(", ")} and ${missing.at(-1)}`;
  else if (missing.length > 0 && questions.length > 1) text = `Still to answer: question ${missing[0]}`;
  else if (missing.length > 0)
    text = questions[0].querySelector(".choice") ? "Choose an answer, then send it." : "Write an answer, then send it.";
  place.hidden = text === "";
  if (place.textContent !== text) place.textContent = text;
}
document.addEventListener("input", showMissing);
document.addEventListener("DOMContentLoaded", showMissing);
document.addEventListener("htmx:finally:swap", showMissing);

// The link in the bar that leads to the Approve button is hidden while that button is on the screen.
const approveOnScreen = new IntersectionObserver((entries) => {
  for (const entry of entries)
    for (const link of entry.target.closest("form").querySelectorAll(".to-approve"))
      link.classList.toggle("is-there", entry.intersectionRatio === 1);
}, { threshold: 1 });
function watchApprove() {
  approveOnScreen.disconnect();
  for (const button of document.querySelectorAll("#approve .approve-once")) approveOnScreen.observe(button);
}
document.addEventListener("DOMContentLoaded", watchApprove);
document.addEventListener("htmx:finally:swap", watchApprove);
