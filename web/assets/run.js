// The page of a session of a hosted agent. The text that its model is writing appears as it
// arrives. When the whole message is on the page, it replaces that text.
let written = false; // whether the next loaded page has the whole message

const typingText = () => document.getElementById("typing-text");

function showTyping(text) {
  const place = typingText();
  if (!place) return;
  place.textContent = text;
  place.parentElement.hidden = text === "";
}

document.addEventListener("delta", (event) => {
  const piece = JSON.parse(event.detail.data);
  const before = written ? "" : typingText()?.textContent || "";
  written = false;
  showTyping(before.slice(0, piece.from) + piece.text);
});
document.addEventListener("written", () => { written = true; });
document.addEventListener("htmx:finally:swap", () => {
  if (!written) return;
  written = false;
  showTyping("");
});

// A sent message is removed from the field. A message that was not sent stays in it.
let messageSent = false;
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.message-form")) messageSent = true;
}, true);
document.addEventListener("htmx:finally:swap", () => {
  const field = document.getElementById("message");
  if (!messageSent || !field) return;
  messageSent = false;
  field.value = field.defaultValue;
});
