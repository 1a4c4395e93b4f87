// Whoever writes an answer of their own has chosen Other. Without this script they
// choose it themselves.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement) || field.value.trim() === "") return;
  const own = document.getElementById(field.id.replace(/-other$/, "-own"));
  if (own instanceof HTMLInputElement) own.checked = true;
});
