{% load static %}// Shows a page of its own when the service cannot be reached. Nothing else is kept, and nothing else is answered here.
"use strict";

const KEPT = "offline-1"; // the page is kept in the language {{ language }}, and again when that changes
const OFFLINE = "{% url 'offline' %}";
const FILES = [OFFLINE, "{% static 'site/tokens.css' %}", "{% static 'site/elements.css' %}", "{% static 'site/frame.css' %}", "{% static 'site/components.css' %}"];

self.addEventListener("install", (event) => event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES))));
self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate" && !FILES.includes(new URL(event.request.url).pathname)) return;
  event.respondWith(fetch(event.request).catch(async () => (await caches.match(event.request)) ?? caches.match(OFFLINE)));
});
