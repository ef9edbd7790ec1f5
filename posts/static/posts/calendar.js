// The calendar: posts are dragged to other days, hours and slots, and the browser's time zone is offered if it is another one.
// The page works without it: "Move…" opens a form, and the settings have the time zone.
"use strict";
const form = document.querySelector("#move");
let dragged = null;

document.addEventListener("dragstart", (event) => {
  const entry = event.target.closest?.(".entry");
  if (!entry) return;
  if (!entry.dataset.move) {
    event.preventDefault(); // the title of its link says why it stays
    return;
  }
  dragged = entry;
  entry.classList.add("dragged");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", entry.querySelector("a").textContent.trim());
});

document.addEventListener("dragend", () => {
  dragged?.classList.remove("dragged");
  dragged = null;
  mark(null);
});

document.addEventListener("dragover", (event) => {
  const place = placeOf(event);
  mark(place);
  if (place) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  const place = placeOf(event);
  if (!place) return;
  event.preventDefault();
  const [hour, minute] = dragged.dataset.time.split(":");
  const time = place.dataset.time ?? `${place.dataset.hour ?? hour}:${minute}`;
  form.action = dragged.dataset.move;
  form.elements.when.value = `${place.dataset.day}T${time}`;
  form.elements.slot_of.value = place.dataset.account ?? "";
  form.requestSubmit();
});

function placeOf(event) {
  const place = dragged && event.target.closest?.("[data-day]");
  return place && !(place.contains(dragged) && !place.dataset.time) ? place : null;
}

function mark(place) {
  for (const each of document.querySelectorAll(".drop-here")) if (each !== place) each.classList.remove("drop-here");
  place?.classList.add("drop-here");
}

const offer = document.querySelector("#zone");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// A zone has several names, so what counts are its clocks in winter and in summer.
const clocks = (timeZone) => [0, 6].map((month) => new Date(2027, month, 1).toLocaleString("en", { timeZone })).join();
if (offer && zone && clocks(zone) !== clocks(offer.dataset.zone)) {
  for (const each of offer.querySelectorAll("[data-browser-zone]")) each.textContent = zone.replaceAll("_", " ");
  const field = offer.querySelector("[name=default_timezone]");
  if (field) field.value = zone;
  offer.hidden = false;
}
