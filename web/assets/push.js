// Notifications of this browser. With the key of the server, a push service delivers them; without it, they are shown
// while a page is open (see alerts.js). The page works without this script.
const pushOffer = () => document.getElementById("push-offer");
const pushState = () => document.getElementById("push-state");

// pushProblem returns the reason why this browser cannot show notifications, or "".
function pushProblem() {
  if (!isSecureContext) return "This browser can show notifications only if Askback is opened over https.";
  const apple =
    /iPhone|iPad/.test(navigator.userAgent) || (navigator.platform === "MacIntel" && navigator.maxTouchPoints > 1);
  if (apple && !("Notification" in window))
    return "On an iPhone or iPad, add Askback to the home screen first: Share, then Add to Home Screen. Open it there.";
  const isPush = !!pushState()?.dataset.key;
  if (!("Notification" in window && (!isPush || ("serviceWorker" in navigator && "PushManager" in window))))
    return "This browser cannot show notifications of web pages.";
  if (Notification.permission === "denied")
    return "Notifications of Askback are blocked in the settings of this browser.";
  return "";
}

const pushForm = (path, values = {}) =>
  fetch(path, { method: "POST", body: new URLSearchParams(values) }).then((reply) => {
    if (!reply.ok) throw new Error(`the server replied ${reply.status}`);
    return reply.json();
  });
const addressOf = (subscription) => ({ address: JSON.stringify(subscription) });

// contact is the id of this browser as a contact. It is "" if the browser is not a contact, and
// null while that is not known.
let contact = null;

async function findContact() {
  if (contact !== null || pushProblem() || !pushState()?.dataset.key) return;
  const registration = await navigator.serviceWorker.ready;
  const subscription = await registration.pushManager.getSubscription();
  contact = subscription ? (await pushForm("/push/state", addressOf(subscription))).id : "";
}

// showPush shows whether this browser shows notifications, and the possible actions.
async function showPush(failure = "") {
  const state = pushState();
  if (!state) return;
  let problem = pushProblem();
  if (!failure && !problem)
    await findContact().catch(() => (problem = "It is not known whether this browser shows notifications."));
  const on = !problem && (!!contact || notifies());
  let text = failure || problem;
  if (!text && contact) text = "This browser shows new questions as notifications.";
  else if (!text && on) text = "This browser shows new questions as notifications, while a page of Askback is open.";
  else if (!text) text = "This browser does not show notifications.";
  const line = state.querySelector("span");
  if (line.textContent !== text) line.textContent = text;
  state.querySelector(".push-on").hidden = on || !!problem;
  state.querySelector(".push-off").hidden = !on;
  state.hidden = false;
  const offer = pushOffer();
  if (offer) offer.hidden = on || !!problem || localStorage.getItem("push-offer") === "declined";
}

// sameKey reports whether a subscription was made with a key of a server in base64url.
function sameKey(subscription, key) {
  const bytes = subscription.options?.applicationServerKey;
  if (!bytes) return true;
  return (
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replace(/=+$/, "") === key
  );
}

const bytesOf = (key) => Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

async function turnPushOn(key) {
  if ((await Notification.requestPermission()) !== "granted") return;
  store("notify", true);
  listen();
  if (!key) return;
  const { pushManager } = await navigator.serviceWorker.ready;
  const old = await pushManager.getSubscription();
  if (old && !sameKey(old, key)) await old.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
  contact = (await pushForm("/push", addressOf(subscription))).id;
}

async function turnPushOff() {
  store("notify", false);
  listen();
  if (!contact) return;
  await pushForm(`/push/${contact}/remove`);
  contact = "";
  const registration = await navigator.serviceWorker.ready;
  await (await registration.pushManager.getSubscription())?.unsubscribe();
}

// showContacts loads the list of contacts again, to which this browser was added or from which it
// was removed.
async function showContacts() {
  if (document.querySelector(".contacts-page"))
    await htmx.ajax("GET", location.pathname, { target: "body", swap: "innerMorph" });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".push-on, .push-off, .push-later");
  if (!button) return;
  if (button.matches(".push-later")) {
    localStorage.setItem("push-offer", "declined");
    showPush();
    return;
  }
  const turn = button.matches(".push-on") ? turnPushOn(pushState().dataset.key) : turnPushOff();
  turn
    .then(() => showContacts())
    .then(() => showPush())
    .catch((error) => {
      // a browser without a push service still shows what an open page tells
      showPush(error.name === "AbortError" && notifies() ? "" : `That did not work: ${error.message}`);
    });
});

// showBadge shows the number of open asks on the icon of the installed app, if the list has all of
// them. It closes the notification of the ask that is open on the page.
function showBadge() {
  const list = document.getElementById("list");
  if (list && navigator.setAppBadge && !document.querySelector(".filters") && !list.hasAttribute("data-more")) {
    const count = openRows().length;
    (count ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => {});
  }
  const id = currentID();
  if (!id || !("serviceWorker" in navigator) || document.visibilityState !== "visible") return;
  navigator.serviceWorker.getRegistration().then(async (registration) => {
    for (const shown of (await registration?.getNotifications({ tag: id })) || []) shown.close();
  }).catch(() => {});
}

for (const event of ["DOMContentLoaded", "htmx:finally:swap"]) {
  document.addEventListener(event, () => {
    showPush();
    showBadge();
  });
}
