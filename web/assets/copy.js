// A button copies the text of a field. Without this script, or if the browser has no clipboard,
// people select the text.
function showCopy() {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  const field = button && document.getElementById(button.dataset.copy);
  if (!field) return;
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
    announce("Copied");
  } catch {
    field.select(); // the keyboard copies it
  }
});
document.addEventListener("DOMContentLoaded", showCopy);
document.addEventListener("htmx:finally:swap", showCopy);
