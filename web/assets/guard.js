// Accidental input decides nothing: keys of a text that continues while an ask appears, the Enter
// of an input method, a held key, and a press on an element that moved.
const pauseTime = 500; // milliseconds without a key until an ask takes keys
const typingTime = 2000; // the same, if a person was typing a text when the ask appeared
const decideTime = 200; // milliseconds that a letter that decides waits for another one

// isComposing reports whether a key belongs to an input method. Safari sends the Enter that ends a
// composition after it, with this code.
const isComposing = (event) => event.isComposing || event.keyCode === 229;

const typing = { keys: 0, at: -Infinity, alone: true };
const lastTyped = Date.now() - Number(sessionStorage.getItem("typed")); // on the page before this one
if (lastTyped < typingTime) Object.assign(typing, { keys: 2, at: performance.now() - lastTyped });
const isTyping = () => typing.keys > 1 && performance.now() - typing.at < typingTime;
const mayDecide = () => document.body.dataset.keys === "ready";

// waitForPause makes keys wait until no key was pressed for a moment.
function waitForPause(pause) {
  waitForPause.pause = pause;
  delete document.body.dataset.keys;
  clearTimeout(waitForPause.timer);
  waitForPause.timer = setTimeout(() => { document.body.dataset.keys = "ready"; }, pause);
}

// ignoreKeys reports that keys were ignored, and waits for a pause.
function ignoreKeys() {
  cancelDecision();
  waitForPause(isTyping() ? typingTime : pauseTime);
  announce("Keys were ignored, because they may be a part of a text. They work after a moment without typing.");
}

// Each key before that prolongs the wait. A command is not a part of a text, nor is a key with a
// modifier that makes it a command.
addEventListener("keydown", (event) => {
  if (["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"].includes(event.key)) return;
  const now = performance.now();
  typing.alone = now - typing.at >= pauseTime;
  if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (now - typing.at >= typingTime) typing.keys = 1;
    else if (event.key !== typing.key || typing.keys === 0) typing.keys++; // not a key that is pressed again and again
    Object.assign(typing, { key: event.key, at: now });
    if (typing.keys > 1) sessionStorage.setItem("typed", Date.now());
  }
  if (decision.button) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return ignoreKeys();
  }
  if (!mayDecide()) waitForPause(isTyping() ? typingTime : waitForPause.pause || pauseTime);
}, true);

// decideSoon presses a button, unless another key follows immediately: then both keys are a part of
// a text.
const decision = { button: null, timer: 0 };
function cancelDecision() {
  clearTimeout(decision.timer);
  decision.button = null;
}
function decideSoon(selector) {
  const button = document.querySelector(selector);
  if (!button || button.disabled) return;
  if (!mayDecide() || !typing.alone) return ignoreKeys();
  const sign = signOf(button);
  decision.button = button;
  decision.timer = setTimeout(() => {
    decision.button = null;
    typing.keys = 0;
    if (button.isConnected && !button.disabled && signOf(button) === sign && mayDecide()) button.click();
  }, decideTime);
}

// Elements that decide or choose when they are pressed.
const deciding = "form.ask button, form.ask .choice label, form.quick button, form.bulk button[name=action]";

// signOf returns the effect of a press on an element. A page that changes in place may give the
// same element another effect.
const signOf = (element) =>
  [
    element.closest("form")?.getAttribute("action"),
    element.closest("form")?.dataset.ask,
    element.name,
    element.value,
    element.textContent,
  ].join(" ");

// A press counts only if the element under the pointer at its end was there at its begin, and if
// neither the page nor the finger moved.
const movedBy = 8; // pixels, more than a font that loads
const placeOf = (element) => {
  const { left, top } = element.getBoundingClientRect();
  return { element, left, top, sign: signOf(element) };
};
const isUnmoved = (from, element) => {
  const to = placeOf(element);
  return (
    from.element === element && from.sign === to.sign && Math.hypot(to.left - from.left, to.top - from.top) <= movedBy
  );
};
let pressed = null;
addEventListener("pointerdown", (event) => {
  const element = event.target.closest?.(deciding);
  pressed = element ? placeOf(element) : {};
}, true);
addEventListener("click", (event) => {
  const element = event.target.closest?.(deciding);
  const from = pressed;
  pressed = null;
  if (!element || !event.isTrusted) return;
  const byPointer = event.detail > 0 || event.pointerType;
  if (byPointer && (!from || isUnmoved(from, element))) return;
  if (!byPointer && (element.matches("label") || mayDecide())) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  announce("The page has just changed. Press again.");
}, true);

// A held key decides nothing, because the focus may have moved to another ask meanwhile.
addEventListener("keydown", (event) => {
  if (
    event.repeat &&
    (event.key === "Enter" || event.key === " ") &&
    event.target.matches?.("button, a, summary, input:not([type=text], [type=search])")
  )
    event.preventDefault();
  if (event.key === "Enter" && isComposing(event)) event.stopPropagation();
}, true);
