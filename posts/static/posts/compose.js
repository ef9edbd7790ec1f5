// The composer's own script, besides htmx and site/upload.js: texts for single accounts, and the draft of the form.
// What is entered is saved on the server every few seconds, under the key that the page's address names.
// Without scripts, a button saves the draft.
"use strict";

const SAVE_AFTER_MS = 1500;
const TRY_AGAIN_MS = 5000;
const KEEPALIVE_BYTES = 60000; // browsers refuse larger requests from a page that is being left
const LEFT = "composer-left-unsaved"; // in the tab's storage: the key of the draft, but nothing of its content
const editor = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const composer = () => document.querySelector("#composer");
const isOwn = (field) => document.querySelector(`[data-own="${field.id}"]`);
const draftSaid = document.querySelector("#draft-said");
const draft = { seen: composer()?.elements.seen.value ?? "", changes: 0, saved: 0, timer: 0, running: null, left: false };

// An account's own text starts as a copy of the text for all accounts, and is used once it is changed.
let writing = null;
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".editor textarea")) writing = target;
  if (target.matches("[data-own-text]") && !target.value) target.value = document.querySelector("#text").value;
});
document.addEventListener("focusout", ({ target }) => {
  if (target.matches("[data-own-text]") && !isOwn(target).checked && target.value === document.querySelector("#text").value) target.value = "";
});
document.addEventListener("input", ({ target }) => { if (target.matches("[data-own-text]")) isOwn(target).checked = true; }, { capture: true });
document.addEventListener("change", ({ target }) => {
  const field = target.checked && document.getElementById(target.dataset.own ?? "");
  if (field && !field.value) field.value = document.querySelector("#text").value;
});

// A list beside the text inserts at the cursor of the field in which one was writing. The focus stays where it is.
const inserting = ({ target }) => target.closest("#composer button[value^='insert:']");
document.addEventListener("mousedown", (event) => { if (inserting(event)) event.preventDefault(); });
document.addEventListener("click", (event) => {
  if (!inserting(event)) return;
  event.preventDefault();
  const seen = (each) => each?.checkVisibility();
  const field = seen(writing) ? writing : [...composer().querySelectorAll(".editor textarea")].find(seen);
  if (field !== document.activeElement) field.dispatchEvent(new Event("focusin", { bubbles: true })); // fills in an own text
  const { selectionStart, selectionEnd, value } = field;
  const text = inserting(event).value.slice("insert:".length);
  field.setRangeText(/\S$/.test(value.slice(0, selectionStart)) ? text : text.trimStart(), selectionStart, selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
});

// A picture that is dragged onto another one takes its place; its alt text stays with it. So does a part of a thread, whose
// labels and buttons the server then numbers again. A selected text that is dragged is neither.
const MOVABLE = ".attached > li, .thread > .field";
let dragged = null;
document.addEventListener("dragstart", ({ target, dataTransfer }) => {
  dragged = target.draggable ? target.closest(MOVABLE) : null;
  if (dragged) dataTransfer.setData("text/plain", ""); // Firefox drags nothing that has no data
});
document.addEventListener("dragend", () => { dragged = null; });
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!dragged) return;
    event.preventDefault();
    event.stopPropagation(); // it is not a file to upload
    const over = kind === "drop" && event.target.closest(MOVABLE);
    if (!over || over.parentElement !== dragged.parentElement) return;
    over[dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING ? "after" : "before"](dragged);
    composer().dispatchEvent(new Event("change", { bubbles: true }));
    over.parentElement.querySelector(":scope > .number-again")?.click();
  }, { capture: true });
}

// The tab that is clicked is written in next, and its preview is the one that is shown. Tabs show how much longer their
// text may be as the latest check has counted it.
document.addEventListener("change", ({ target }) => { if (target.name === "tab") showCheckOfTab(); });
document.addEventListener("click", ({ target, detail }) => {
  if (target.name === "tab" && detail) target.closest(".tab").nextElementSibling.querySelector("textarea").focus();
});
document.addEventListener("htmx:afterSettle", () => { if (composer()) showCheckOfTab(); });
function showCheckOfTab() {
  const { value = "" } = composer().querySelector("[name=tab]:checked") ?? {};
  for (const each of document.querySelectorAll("#check > [data-account]")) {
    each.hidden = value && each.dataset.account !== value;
    const ring = composer().querySelector(`.tab:has([value="${each.dataset.account}"]) .ring`);
    if (ring && ring.outerHTML !== each.querySelector(".ring").outerHTML) ring.replaceWith(each.querySelector(".ring").cloneNode(true));
  }
}

// Check input that was entered before the scripts were loaded, or that the browser restored from its history.
document.addEventListener("htmx:load", () => {
  const moved = [...document.querySelectorAll("#composer .accounts input")].find((box) => box.checked !== box.defaultChecked);
  moved?.dispatchEvent(new Event("change", { bubbles: true }));
  const typed = [...document.querySelectorAll("#composer textarea, #composer #id_when")].find((field) => field.value !== field.defaultValue);
  typed?.dispatchEvent(new Event("input", { bubbles: true }));
}, { once: true });

// What is entered while a new part of the form is on its way stays entered in the new part.
const ENTERED = "input:not([type=hidden], [type=file]), textarea, select";
const nameOf = (field) => (field.matches("[type=checkbox], [type=radio]") ? `${field.name} ${field.value}` : field.id || field.name);
const valueOf = (field) => (field.matches("[type=checkbox], [type=radio]") ? field.checked : field.value);
const valuesNow = () => new Map([...composer().querySelectorAll(ENTERED)].map((field) => [nameOf(field), valueOf(field)]));

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (!composer()) return;
  detail.xhr.sent = valuesNow();
  // The parts of a thread have other places in the answer, so nothing is typed meanwhile.
  if (detail.elt.value?.startsWith("thread:")) document.querySelector("#targets").inert = true;
});
document.addEventListener("htmx:afterRequest", () => { if (composer()) document.querySelector("#targets").inert = false; });
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!composer()) return;
  const { sent = new Map() } = detail.xhr;
  detail.xhr.entered = new Map([...valuesNow()].filter(([name, value]) => sent.has(name) && sent.get(name) !== value));
  const focused = document.activeElement;
  // The selection is noted as well: a field without an own text is emptied, and loses it, when it is taken away.
  if (focused.matches("textarea")) detail.xhr.written = { field: focused, selection: [focused.selectionStart, focused.selectionEnd] };
  detail.xhr.opened = [...composer().querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
});
document.addEventListener("htmx:afterSwap", (event) => {
  const { entered = new Map(), opened = [] } = event.detail.xhr;
  for (const field of event.target.querySelectorAll?.(ENTERED) ?? []) {
    if (!entered.has(nameOf(field))) continue;
    if (typeof valueOf(field) === "boolean") field.checked = entered.get(nameOf(field));
    else field.value = entered.get(nameOf(field));
  }
  // Only now is the open tab shown again, so that its field can have the focus; htmx has tried that too early.
  const { written } = event.detail.xhr;
  if (written && !written.field.isConnected) {
    const field = document.getElementById(written.field.id);
    field?.focus();
    field?.setSelectionRange(...written.selection);
  }
  for (const summary of event.target.querySelectorAll?.("summary") ?? []) {
    if (opened.includes(summary.textContent)) summary.parentElement.open = true;
  }
});

const isUnsaved = () => draft.changes !== draft.saved && !draft.left;

function changed() {
  draft.changes += 1;
  const key = composer().elements.key.value;
  if (new URLSearchParams(location.search).get("draft") !== key) history.replaceState(history.state, "", `?draft=${key}`);
  if (!draft.timer) draft.timer = setTimeout(save, SAVE_AFTER_MS);
}

// Saves until nothing is unsaved, one request at a time. Returns whether everything is saved.
async function save() {
  clearTimeout(draft.timer);
  draft.timer = 0;
  while (isUnsaved()) {
    draft.running ??= send().finally(() => { draft.running = null; });
    if (!(await draft.running)) {
      draft.timer ||= setTimeout(save, TRY_AGAIN_MS);
      return false;
    }
  }
  return true;
}

function entered() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(composer())) if (typeof value === "string") fields.append(name, value);
  fields.set("action", "keep");
  fields.set("editor", editor);
  fields.set("seen", draft.seen);
  return fields;
}

function post(fields, options = {}) {
  const headers = { Accept: "application/json" };
  return fetch(location.href, { method: "POST", body: fields, headers, redirect: "manual", ...options });
}

async function send() {
  const upTo = draft.changes;
  try {
    let answer = await post(entered());
    if (answer.type === "opaqueredirect" || answer.status === 403) {
      // The session has ended, or a sign-in in another tab has replaced the form's token.
      if (!(await renewToken())) return !document.dispatchEvent(new Event("signed-out"));
      answer = await post(entered());
    }
    if (!answer.ok) throw new Error(answer.status);
    const { key, seen, said, finished } = await answer.json();
    document.querySelector("#signed-out")?.remove();
    draft.saved = upTo;
    if (finished) return true;
    draft.seen = seen;
    composer().elements.key.value = key;
    history.replaceState(history.state, "", `?draft=${key}`);
    if (draftSaid.textContent !== said) draftSaid.textContent = said;
    return true;
  } catch {
    draftSaid.textContent = draftSaid.dataset.unreachable;
    return false;
  }
}

// Returns a fresh copy of this page, or null if nobody is signed in any more.
async function freshPage() {
  const page = await fetch(location.href, { redirect: "manual" });
  return page.ok ? new DOMParser().parseFromString(await page.text(), "text/html") : null;
}

// Takes the form's token from the session of a new sign-in. Returns whether somebody is signed in.
async function renewToken() {
  const token = (await freshPage())?.querySelector("#composer [name=csrfmiddlewaretoken]")?.value;
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token ?? field.value;
  return Boolean(token);
}

document.addEventListener("signed-out", () => { draftSaid.textContent = draftSaid.dataset.signedOut; });

const noteChange = ({ target }) => { if (target.closest("#composer") && target.type !== "file") changed(); };
for (const kind of ["input", "change"]) document.addEventListener(kind, noteChange);
// A button, or the choice of an account, has changed a part of the form.
document.addEventListener("htmx:load", (event) => { if (event.target.closest("#composer") && !event.target.closest(".checking")) changed(); });
document.addEventListener("focusout", () => { if (isUnsaved()) save(); });
window.addEventListener("focus", () => { if (isUnsaved()) save(); });

// A page that is being left, or put into the background, cannot wait for an answer.
function sendBeforeLeaving() {
  const fields = entered();
  if (String(fields).length < KEEPALIVE_BYTES) post(fields, { keepalive: true }).catch(() => {});
}

document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden" && isUnsaved()) sendBeforeLeaving(); });

window.addEventListener("beforeunload", (event) => {
  if (!isUnsaved()) return;
  event.preventDefault();
  sendBeforeLeaving();
  sessionStorage.setItem(LEFT, composer().elements.key.value);
});

// The page may have been loaded again before what was sent while leaving it was saved.
async function showWhatWasSentWhileLeaving() {
  if (!composer() || sessionStorage.getItem(LEFT) !== composer().elements.key.value) return;
  sessionStorage.removeItem(LEFT);
  const fresh = await freshPage();
  if (fresh && fresh.querySelector("#composer").elements.seen.value !== draft.seen && !draft.changes) location.reload();
}
showWhatWasSentWhileLeaving();

window.addEventListener("pageshow", () => { draft.left = false; });

// A link is followed once everything is saved; if that fails, the browser asks.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[href]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || link?.target || link?.hash;
  if (!link || elsewhere || event.defaultPrevented || !isUnsaved()) return;
  event.preventDefault();
  await save();
  location.assign(link.href);
});

// The form is sent once its draft is saved, so that a lost session cannot lose it.
document.addEventListener("submit", async (event) => {
  if (event.target !== composer() || !isUnsaved()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const { submitter } = event;
  if (await save()) composer().requestSubmit(submitter);
}, { capture: true });
window.addEventListener("submit", (event) => { draft.left = event.target === composer() && !event.defaultPrevented; });
