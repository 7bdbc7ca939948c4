/* The keyboard: one letter for each thing that is done often. They can be switched off; Tab reaches everything anyway. */
import * as copying from "./copy.js";
import { root } from "./clm.js";
import * as finding from "./find.js";
import { cards, current, goTo } from "./place.js";

const OFF = "clm-keys-off";
const FIELDS = "input, textarea, select, [contenteditable]";

function follow(rel) {
  root.querySelector(`.clm-pager a[rel="${rel}"]`)?.click();
}

function move(by, wanted) {
  const all = cards();
  for (let at = all.indexOf(current()) + by; at >= 0 && at < all.length; at += by) {
    if (all[at].matches(wanted)) return goTo(all[at]);
  }
  return follow(by > 0 ? "next" : "prev");
}

export function openAll(scope) {
  const steps = [...scope.querySelectorAll("details.clm-step")].filter((step) => !step.closest(".clm-nest"));
  const open = steps.some((step) => !step.open);
  for (const step of steps) step.open = open;
  return open;
}

const KEYS = [
  [["/"], "find in this session", () => root.querySelector("#clm-q").focus()],
  [["n"], "next place found", () => finding.step(1)],
  [["p"], "previous place found", () => finding.step(-1)],
  [["j"], "next chunk", () => move(1, "*")],
  [["k"], "previous chunk", () => move(-1, "*")],
  [["]"], "next prompt", () => move(1, ".clm-user")],
  [["["], "previous prompt", () => move(-1, ".clm-user")],
  [["l"], "next page", () => follow("next")],
  [["h"], "previous page", () => follow("prev")],
  [["o"], "open or close the steps of the chunk", () => current() && openAll(current())],
  [["O"], "open or close the steps of the page", () => openAll(root)],
  [["c"], "copy the link to the chunk", () => copying.link()],
  [["m"], "copy the chunk as Markdown", () => copying.markdown()],
  [["?"], "these keys", () => help().showModal()],
];

function help() {
  let box = root.querySelector(".clm-keys");
  if (box) return box;
  box = document.createElement("dialog");
  box.className = "clm-keys";
  box.setAttribute("aria-label", "Keys");
  const rows = KEYS.map(([keys, what]) => `<div><dt>${keys.map((key) => `<kbd>${key}</kbd>`).join(" ")}</dt><dd>${what}</dd></div>`);
  box.innerHTML = `<h2>Keys</h2><dl>${rows.join("")}</dl>
    <p><label><input type="checkbox"> Use these keys</label></p>
    <form method="dialog"><button>Close</button></form>`;
  const use = box.querySelector("input");
  use.checked = !localStorage.getItem(OFF);
  use.addEventListener("change", () => (use.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  box.addEventListener("click", (event) => event.target === box && box.close());
  root.append(box);
  return box;
}

function pressed(event) {
  const target = event.composedPath()[0];
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches?.(FIELDS)) {
    if (event.key === "Escape" && target.id === "clm-q") target.blur();
    return;
  }
  if (document.querySelector("dialog[open]") || localStorage.getItem(OFF)) return;
  const found = KEYS.find(([keys]) => keys.includes(event.key));
  if (!found) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  found[2]();
}

export function start() {
  const side = root.querySelector(".clm-side");
  const row = document.createElement("p");
  row.className = "clm-tools";
  row.innerHTML = '<button type="button">Open all steps</button> <button type="button" aria-haspopup="dialog">Keys <kbd>?</kbd></button>';
  const [all, keys] = row.children;
  all.addEventListener("click", () => { all.textContent = openAll(root) ? "Close all steps" : "Open all steps"; });
  keys.addEventListener("click", () => help().showModal());
  side?.querySelector(".clm-chips")?.after(row);
  /* Before Datasette's own: its jump menu opens at "/" too. */
  addEventListener("keydown", pressed, true);
}
