// Files for a page with a form sent by htmx: files dropped onto a .dropzone or pasted, the progress, and the message when it fails.
// Without it a button sends the whole form, and the server answers the page.
"use strict";

const dropzone = (event) => event.target.closest?.(".dropzone");

for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    const zone = dropzone(event);
    if (!zone || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("over");
  });
}

document.addEventListener("dragleave", (event) => {
  const zone = dropzone(event);
  if (zone && !zone.contains(event.relatedTarget)) zone.classList.remove("over");
});

document.addEventListener("drop", (event) => {
  const zone = dropzone(event);
  if (!zone || !event.dataTransfer.files.length) return;
  event.preventDefault();
  zone.classList.remove("over");
  upload(zone, event.dataTransfer.files);
});

// A pasted picture is uploaded; text that is copied with a picture of itself is pasted as text.
document.addEventListener("paste", (event) => {
  const zone = document.querySelector(".dropzone");
  const { files, types } = event.clipboardData;
  if (!zone || !files.length || types.includes("text/plain")) return;
  event.preventDefault();
  upload(zone, files);
});

function upload(zone, files) {
  const input = zone.querySelector("input[type=file]");
  input.files = files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("htmx:xhr:progress", (event) => {
  const bar = document.querySelector("#upload-progress");
  if (!bar || event.target.type !== "file" || !event.detail.lengthComputable) return;
  bar.hidden = false;
  bar.value = (100 * event.detail.loaded) / event.detail.total;
  if (event.detail.loaded === event.detail.total) bar.removeAttribute("value"); // it is there, and being checked
});

// What is not an answer of this page (signed out, an error page) does not take the place of a part of it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, pathInfo } = event.detail;
  const { pathname } = new URL(xhr.responseURL || location.href);
  const elsewhere = ![location.pathname, new URL(pathInfo.requestPath, location.href).pathname].includes(pathname);
  if (!elsewhere && [200, 422].includes(xhr.status)) return;
  event.detail.shouldSwap = false;
  if (!elsewhere) failed(xhr.status === 413 ? document.body.dataset.tooLarge : document.body.dataset.failed);
  else if (pathname === document.querySelector("[data-sign-in]")?.dataset.signIn) document.dispatchEvent(new Event("signed-out"));
  else location.assign(xhr.responseURL);
});

document.addEventListener("htmx:sendError", () => failed(document.body.dataset.unreachable));

// The session has ended. The page stays as it is, and a new tab signs in.
document.addEventListener("signed-out", () => {
  if (document.querySelector("#signed-out")) return;
  const link = document.createElement("a");
  link.href = `${document.querySelector("[data-sign-in]").dataset.signIn}?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.target = "_blank";
  link.textContent = document.body.dataset.signInAgain;
  const message = document.createElement("p");
  message.id = "signed-out";
  message.className = "message warning";
  message.append(`${document.body.dataset.signedOut} `, link);
  document.querySelector("#messages").replaceChildren(message);
});

function failed(words) {
  const message = document.createElement("p");
  message.className = "message error";
  message.textContent = words;
  document.querySelector("#messages").replaceChildren(message);
  const bar = document.querySelector("#upload-progress");
  if (bar) bar.hidden = true;
}
