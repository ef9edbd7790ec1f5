// What Swagger UI leaves out: it shows its dark colours only to a page with this class, its lists have no names, a keyboard
// does not reach its samples, its headings go from the first level to the third, and no landmark holds the description.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
const mendControls = () => {
  for (const list of document.querySelectorAll("select:not([aria-label])"))
    list.ariaLabel = list.closest("label, tr, .examples-select")?.innerText.split("\n")[0].trim() || "Value";
  for (const sample of document.querySelectorAll("pre:not([tabindex])")) sample.tabIndex = 0;
  for (const heading of document.querySelectorAll(":is(h3, h4, h5):not([aria-level])")) heading.ariaLevel = heading.tagName[1] - 1;
  for (const [part, name] of [[".information-container", "Description"], [".scheme-container", "Server and authorization"]])
    for (const each of document.querySelectorAll(`${part}:not([role])`)) Object.assign(each, { role: "region", ariaLabel: name });
  for (const inner of document.querySelectorAll("button a[href]")) inner.removeAttribute("href"); // the button does the same
};
new MutationObserver(mendControls).observe(document, { childList: true, subtree: true });
