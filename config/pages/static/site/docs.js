// What Swagger UI leaves out: it shows its dark colours only to a page with this class, its lists have no names,
// and a keyboard does not reach its samples.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const mendControls = () => {
  for (const list of document.querySelectorAll("select:not([aria-label])"))
    list.ariaLabel = list.closest("label, tr, .examples-select")?.innerText.split("\n")[0].trim() || "Value";
  for (const sample of document.querySelectorAll("pre:not([tabindex])")) sample.tabIndex = 0;
  for (const inner of document.querySelectorAll("button a[href]")) inner.removeAttribute("href"); // the button does the same
};
new MutationObserver(mendControls).observe(document, { childList: true, subtree: true });
