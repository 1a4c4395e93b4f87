// The menu of the header closes by a click on one of its links or outside of it, and by
// Escape.
const openMenu = () => document.querySelector(".nav-menu[open]");
document.addEventListener("click", (event) => {
  const menu = openMenu();
  if (menu && (!menu.contains(event.target) || event.target.closest("a"))) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = openMenu();
  if (!menu || event.key !== "Escape") return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("focusin", (event) => {
  const menu = openMenu();
  if (menu && !menu.contains(event.target)) menu.open = false;
});
