// The composer's own script, besides htmx and site/upload.js: texts for single accounts.
"use strict";

// An account's own text starts as a copy of the text for all accounts.
document.addEventListener("change", (event) => {
  const field = event.target.checked && document.getElementById(event.target.dataset.own ?? "");
  if (field && !field.value) field.value = document.querySelector("#text").value;
});

// Check input that was entered before the scripts were loaded, or that the browser restored from its history.
document.addEventListener("htmx:load", () => {
  const moved = [...document.querySelectorAll("#composer .accounts input")].find((box) => box.checked !== box.defaultChecked);
  moved?.dispatchEvent(new Event("change", { bubbles: true }));
  const typed = [...document.querySelectorAll("#composer textarea")].find((field) => field.value !== field.defaultValue);
  typed?.dispatchEvent(new Event("input", { bubbles: true }));
}, { once: true });
