// Pages show times in the time zone of the browser. A cookie has its name. A page that was made without the
// name is loaded again, unless it is the reply to a form.
function storeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const stored = () => document.cookie.split("; ").includes(`askback-zone=${zone}`);
  if (!zone || stored()) return;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `askback-zone=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;
  const shown = document.documentElement.dataset.zone;
  if (!shown || shown === zone || !stored() || !document.querySelector("time")) return;
  document.documentElement.dataset.zone = zone;
  if (window.htmx) document.dispatchEvent(new Event("reload"));
  else location.reload();
}
storeZone();
document.addEventListener("visibilitychange", () => { if (!document.hidden) storeZone(); });
