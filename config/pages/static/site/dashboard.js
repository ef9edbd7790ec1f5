// What pages do beside htmx. Every page reads without it. Behaviour hangs on data attributes:
//   data-copy="#id"      a button that copies the text of that element
//   data-confirm="…"     a form that asks before it is sent
//   data-once            a form that is sent once, however often its button is pressed
//   data-undo            an offer to undo; `seconds` in its address says after how many seconds it ends
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const shown = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText(shown.value ?? shown.textContent.trim());
  const label = button.textContent;
  button.textContent = document.body.dataset.copied;
  setTimeout(() => { button.textContent = label; }, 2000);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const asked = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (asked && !window.confirm(asked)) event.preventDefault();
  if (!("once" in form.dataset) || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});

// A page that comes back from the browser's history may be sent again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// htmx swaps what the server answers; its requests carry the token that Django asks for.
document.addEventListener("htmx:configRequest", (event) => {
  const token = document.querySelector("input[name=csrfmiddlewaretoken]");
  if (token) event.detail.headers["X-CSRFToken"] = token.value;
});

// A part of a page that reloads itself waits while nobody sees the page, and while the focus is in it.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { target } = event;
  if (target.getAttribute("hx-trigger")?.startsWith("every") && (document.hidden || target.contains(document.activeElement))) event.preventDefault();
});

for (const form of document.querySelectorAll("form[data-undo]")) {
  const seconds = Number(new URL(form.action).searchParams.get("seconds"));
  if (seconds) countDown(form, performance.now() + 1000 * seconds);
}

function countDown(form, end) {
  const left = document.createElement("span");
  left.setAttribute("aria-hidden", "true"); // a screen reader would read out each second
  form.querySelector("button").append(" ", left);
  const timer = setInterval(show, 250);
  show();

  function show() {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    left.textContent = `(${Math.max(seconds, 0)})`;
    if (seconds > 0) return;
    clearInterval(timer);
    if (form.contains(document.activeElement)) document.querySelector("#main").focus();
    form.previousElementSibling.textContent = document.body.dataset.publishing;
    form.remove();
  }
}

navigator.serviceWorker?.register("/service-worker.js", { scope: "/dashboard/" });
