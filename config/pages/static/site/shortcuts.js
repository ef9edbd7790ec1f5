// Keyboard shortcuts: Ctrl+K (⌘K) or ? opens the list of all pages; a link of the menu opens by the key in its attribute
// aria-keyshortcuts. Keys without Ctrl can be turned off in the list, and do nothing on pages on which one writes: while a
// part of such a page is replaced, its fields lose the focus, and what is typed next would leave the page.
"use strict";
const goTo = document.getElementById("go-to");
const filter = goTo.querySelector("input[type=search]");
const list = goTo.querySelector("ul");
const keysAlone = goTo.querySelector("input[type=checkbox]");

const opener = document.querySelector(".go-to");
opener.hidden = false;
opener.addEventListener("click", () => goTo.showModal());
const listed = [...document.querySelectorAll("#menu li a"), ...document.querySelectorAll("#workspaces a")].map((link) => {
  const item = document.createElement("li");
  item.append(link.cloneNode(true));
  return item;
});
list.prepend(...listed); // before the pages that no menu names
keysAlone.checked = localStorage.getItem("keys-alone") !== "off";
keysAlone.addEventListener("change", () => localStorage.setItem("keys-alone", keysAlone.checked ? "on" : "off"));

const shown = () => [...list.querySelectorAll("li:not([hidden]) a")];
filter.addEventListener("input", () => {
  const words = filter.value.trim().toLowerCase();
  for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(words);
  goTo.querySelector("output").textContent = shown().length ? "" : goTo.dataset.nothing;
});
goTo.addEventListener("keydown", (event) => {
  const links = shown();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" && event.target === filter) links[0]?.click();
  else if (step) links.at((links.indexOf(document.activeElement) + step) % links.length)?.focus();
  else return;
  event.preventDefault();
});
goTo.addEventListener("close", () => { filter.value = ""; filter.dispatchEvent(new Event("input")); });

const isWriting = () => [...document.querySelectorAll("main textarea")].some((field) => field.checkVisibility());
document.addEventListener("keydown", (event) => {
  const command = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const alone = keysAlone.checked && !isWriting() && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input:not([type=checkbox]), textarea, select, dialog");
  const link = alone && document.querySelector(`#menu a[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (command || (alone && event.key === "?")) goTo.open || goTo.showModal();
  else if (link) link.click();
  else if (alone && ["j", "k", "x"].includes(event.key)) useRow(event.key);
  else return;
  event.preventDefault();
});

// In a list or a calendar, j and k go to the next and to the previous row, and x checks or unchecks the row.
function useRow(key) {
  const rows = [...document.querySelectorAll("main .rows > li, main li.entry")];
  const here = rows.indexOf(document.activeElement.closest("li"));
  if (key === "x") rows[here]?.querySelector("[type=checkbox]")?.click();
  else rows[Math.max(0, Math.min(rows.length - 1, here + (key === "j" ? 1 : -1)))]?.querySelector("a")?.focus();
}
