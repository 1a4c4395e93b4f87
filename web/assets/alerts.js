// New asks are told while a page of Askback is open: by a notification if no page is visible, and by a sound.
// Both begin with a button. One page of the browser listens, the page that a person used last: each page would
// tell the same. An agent can be muted in this browser.
const stored = (name, fallback) => JSON.parse(localStorage.getItem(name) || "null") ?? fallback;
const store = (name, value) => localStorage.setItem(name, JSON.stringify(value));
const canNotify = () => "Notification" in window && Notification.permission === "granted";
const notifies = () => canNotify() && stored("notify", false);
const sounds = () => stored("sound", false);
const mutedAgents = () => stored("muted", []);

// listen opens the stream of new asks, if it is the turn of this page. The stream continues after the last event.
const listening = { stream: null, end: null, after: "" };
function listen() {
  const wanted = document.getElementById("held") !== null && (notifies() || sounds());
  if (!wanted || !listening.end) {
    listening.stream?.close();
    listening.stream = null;
    listening.after = ""; // another page continues, or nothing is told for a while
    return;
  }
  if (listening.stream) return;
  listening.stream = new EventSource("/live?after=" + encodeURIComponent(listening.after));
  listening.stream.addEventListener("message", (event) => {
    listening.after = event.lastEventId;
    takeMessage(event.data);
  });
  listening.stream.addEventListener("settled", (event) => {
    listening.after = event.lastEventId;
    closeNotification(event.data.split(" ")[0]);
  });
  listening.stream.addEventListener("error", () => {
    if (listening.stream?.readyState !== EventSource.CLOSED) return; // it is opened again by itself
    listening.stream = null;
    setTimeout(listen, streamPause);
  });
}

// listenAgain opens the stream again, whose connection may be gone without an error.
function listenAgain() {
  listening.stream?.close();
  listening.stream = null;
  listen();
}
const streamPause = 30000; // milliseconds until a stream that was refused is opened again

// takeTurn makes this page the page that listens. steal takes the turn of another page.
function takeTurn(steal) {
  if (!navigator.locks) listening.end = () => {};
  if (listening.end) return listen();
  navigator.locks.request("askback-alerts", { steal }, () => new Promise((end) => {
    listening.end = end;
    listen();
  })).catch(() => {
    listening.end = null; // another page took the turn
    listen();
    takeTurn(false);
  });
}

function takeMessage(html) {
  const page = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  const partial = page.querySelector('hx-partial[hx-target="#incoming"]');
  const row = partial?.querySelector(".row[data-fresh]");
  if (!row) return;
  const agent = row.querySelector(".from .agent").textContent.trim();
  if (mutedAgents().includes(agent)) return;
  const isMany = tellsMany();
  if (sounds() && !isMany) playSound();
  if (!notifies()) return;
  if (isMany) return notify(more);
  notify({
    tag: row.dataset.ask,
    title: quoted(row.querySelector(".headline").textContent.trim()),
    body: `Asked by ${quoted(agent)}` + (row.matches(".is-dangerous") ? ". Marked as dangerous." : ""),
    path: `/asks/${row.dataset.ask}`,
  });
}

// After ten asks in a minute, one notification stands for the others, so that an agent cannot flood a person (T18).
const maxTold = 10;
const told = []; // times of the asks of the last minute
const more = { tag: "askback-more", title: "More questions wait for you", body: "They are in the inbox.", path: "/" };
function tellsMany() {
  while (told[0] < Date.now() - 60000) told.shift();
  return told.push(Date.now()) > maxTold;
}

// quoted returns text of an agent in quotation marks, and without any, as in the title of a push message: it cannot
// imitate Askback's own words.
const quoted = (text) => `“${text.replace(/[“”„‟❝❞〝〞〟＂″˝‶ʺˮ״〃🙶🙷🙸]|’’|‘‘|′′/gu, '"')}”`;

// notify shows a notification, unless a page is visible. The worker does that: it sees the other pages, and
// shows nothing twice if a push message about the ask has arrived.
async function notify(message) {
  if (!document.hidden) return;
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration?.active) return registration.active.postMessage({ notify: message });
  const shown = new Notification(message.title, { body: message.body, tag: message.tag });
  shown.addEventListener("click", () => {
    focus();
    location.assign(message.path);
  });
}

async function closeNotification(id) {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications({ tag: id })) || []) shown.close();
}

// playSound plays two short notes. A browser plays nothing before a person has used the page.
let audio = null;
function playSound() {
  audio ||= new AudioContext();
  if (audio.state === "suspended") audio.resume();
  for (const [at, pitch] of [[0, 660], [0.12, 880]]) {
    const note = audio.createOscillator();
    const volume = audio.createGain();
    const begin = audio.currentTime + at;
    note.frequency.value = pitch;
    volume.gain.setValueAtTime(0.0001, begin);
    volume.gain.exponentialRampToValueAtTime(0.15, begin + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.0001, begin + 0.16);
    note.connect(volume).connect(audio.destination);
    note.start(begin);
    note.stop(begin + 0.2);
  }
  document.documentElement.dataset.sounds = Number(document.documentElement.dataset.sounds || 0) + 1;
}

// agentOf returns the agent of a button. The button of an ask has no text of the agent, so the header has its name.
const agentOf = (button) =>
  button.dataset.agent ?? [...document.querySelectorAll(".ask-header .agent")].at(-1)?.textContent.trim();

// showAlerts shows the state of the buttons, and marks the asks of muted agents.
function showAlerts() {
  const on = sounds();
  for (const button of document.querySelectorAll(".sound-switch")) {
    button.textContent = on ? "Sound is on" : "Sound is off";
    button.setAttribute("aria-pressed", String(on));
  }
  const muted = mutedAgents();
  for (const row of rows()) {
    row.classList.toggle("is-muted", muted.includes(row.querySelector(".from .agent")?.textContent.trim()));
  }
  const button = document.querySelector(".mute-switch");
  if (button) {
    const is = muted.includes(agentOf(button));
    button.hidden = false;
    button.textContent = is ? "Unmute this agent" : "Mute this agent";
    button.setAttribute("aria-pressed", String(is));
    document.getElementById("mute-note").hidden = !is;
  }
  showMutedList(muted);
}

// showMutedList lists the muted agents, with a button for each.
function showMutedList(muted) {
  const list = document.getElementById("muted");
  if (!list) return;
  list.hidden = muted.length === 0;
  list.querySelector("ul").replaceChildren(...muted.map((agent) => {
    const item = document.createElement("li");
    const name = document.createElement("bdi");
    name.className = "agent";
    name.textContent = agent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "mute-switch-of quiet";
    button.dataset.agent = agent;
    button.textContent = "Unmute";
    button.setAttribute("aria-label", `Unmute ${agent}`);
    item.append(name, " ", button);
    return item;
  }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".sound-switch, .mute-switch, .mute-switch-of");
  if (!button) return;
  if (button.matches(".sound-switch")) {
    store("sound", !sounds());
    if (sounds()) playSound(); // so that people know it
  } else {
    const agent = agentOf(button);
    const muted = mutedAgents();
    store("muted", muted.includes(agent) ? muted.filter((one) => one !== agent) : [...muted, agent]);
    announce(muted.includes(agent) ? `${agent} is not muted any more` : `${agent} is muted in this browser`);
  }
  showAlerts();
  listen();
});

for (const name of ["DOMContentLoaded", "htmx:finally:swap"]) {
  document.addEventListener(name, () => {
    showAlerts();
    listen();
  });
}
addEventListener("DOMContentLoaded", () => takeTurn(false));
// The page that a person uses may play sounds, so it takes the turn.
addEventListener("pointerdown", () => {
  if (sounds() && !listening.end) takeTurn(true);
  if (sounds() && !audio) audio = new AudioContext();
}, { passive: true });
addEventListener("storage", () => {
  showAlerts();
  listen();
});
