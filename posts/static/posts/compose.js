// The composer beside htmx and site/upload.js: an account's own text.
"use strict";

// It begins as the text for all.
document.addEventListener("change", (event) => {
  const field = event.target.checked && document.getElementById(event.target.dataset.own ?? "");
  if (field && !field.value) field.value = document.querySelector("#text").value;
});

// What was typed and chosen before the scripts were there, or comes back from the browser's history, is looked at too.
document.addEventListener("htmx:load", () => {
  const moved = [...document.querySelectorAll("#composer .accounts input")].find((box) => box.checked !== box.defaultChecked);
  moved?.dispatchEvent(new Event("change", { bubbles: true }));
  const typed = [...document.querySelectorAll("#composer textarea")].find((field) => field.value !== field.defaultValue);
  typed?.dispatchEvent(new Event("input", { bubbles: true }));
}, { once: true });
