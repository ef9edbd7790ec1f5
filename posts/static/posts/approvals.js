// Keyboard shortcuts of the approvals page: j and k select the next or previous post; a, e and r approve, edit and reject it.
// A checkbox switches them off, and they are ignored while the user types. The page works without them.
"use strict";
const STORED = "approval-keys";
const box = document.querySelector("#keys-on");
if (box) {
  box.checked = localStorage.getItem(STORED) !== "off";
  box.addEventListener("change", () => localStorage.setItem(STORED, box.checked ? "on" : "off"));
}

function move(by) {
  const posts = [...document.querySelectorAll(".waiting")];
  const here = posts.indexOf(document.activeElement?.closest(".waiting"));
  posts[Math.max(0, Math.min(posts.length - 1, here + by))]?.focus(); // which scrolls it into view
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
  if (!box?.checked || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if ("aer".includes(event.key)) act(event.key);
  else return;
  event.preventDefault();
});

function act(key) {
  const control = document.activeElement?.closest(".waiting")?.querySelector(`[data-key="${key}"]`);
  if (!control) return;
  control.focus();
  if (key === "e") control.click();
  if (key === "r") {
    control.parentElement.open = true;
    control.parentElement.querySelector("textarea").focus();
  }
}
