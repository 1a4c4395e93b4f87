// The form is saved while a person types, and when they leave the page, so that no typed text is
// lost.
const draftPause = 500; // milliseconds without typing
const draftRetry = 3000;
let unsaved = null; // the form with changes that the server does not have

function saveDraft() {
  clearTimeout(saveDraft.timer);
  const form = unsaved;
  unsaved = null;
  if (!form || form.dataset.sent) return;
  const body = new URLSearchParams(new FormData(form));
  const again = () => {
    unsaved ||= form;
    clearTimeout(saveDraft.timer);
    saveDraft.timer = setTimeout(saveDraft, draftRetry);
  };
  fetch(`/asks/${form.dataset.ask}/draft`, { method: "POST", body, keepalive: String(body).length < 60000 })
    .then((reply) => { if (reply.status >= 500) again(); })
    .catch(again);
}

document.addEventListener("input", (event) => {
  const form = event.target instanceof Element && event.target.closest("form.ask");
  if (!form) return;
  if (unsaved && unsaved !== form) saveDraft();
  unsaved = form;
  clearTimeout(saveDraft.timer);
  saveDraft.timer = setTimeout(saveDraft, draftPause);
});
addEventListener("pagehide", saveDraft);
addEventListener("online", saveDraft);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) saveDraft();
});
document.addEventListener("htmx:before:request", (event) => {
  const source = event.detail.ctx.sourceElement;
  if (source.matches(".draft-notice")) {
    unsaved = null; // the person discards the draft
    clearTimeout(saveDraft.timer);
  } else if (!source.matches("form.ask")) saveDraft();
});

// If a form cannot be sent, it stays unchanged, and the page explains the reason. An error page
// must not replace it.
function keepForm(form, why, isUnreachable) {
  delete form.dataset.sent;
  unsaved = form;
  saveDraft();
  const place = form.querySelector("#unsent");
  if (!place) return;
  delete place.dataset.calm;
  place.toggleAttribute("data-unreachable", !!isUnreachable);
  place.textContent = `${why} What you filled in is still here. Send it again.`;
  place.hidden = false;
  place.scrollIntoView({ block: "nearest" });
}
const reasons = {
  401: "Not sent: you are logged out. Log in again in another window.",
  413: "Not sent: this is too much text. Shorten it.",
};
document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement: form, response, text } = event.detail.ctx;
  if (!form.matches("form.ask") || response.status < 400 || response.status === 409 || /<form class="ask"/.test(text))
    return;
  event.preventDefault();
  keepForm(form, reasons[response.status] || "Not sent: the server has a problem.");
});
document.addEventListener("htmx:error", (event) => {
  const form = event.detail.ctx?.sourceElement;
  if (form?.matches?.("form.ask") && !event.detail.ctx.response)
    keepForm(form, "Not sent: the server cannot be reached.", true);
});
