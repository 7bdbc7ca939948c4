/* Find in session: the server says which places hold the words, on all pages; here they are marked and walked through. */
import { root } from "./clm.js";
import { reveal } from "./place.js";

const MOST = 2000;
let number = 0;

function words() {
  const q = root.querySelector("#clm-q")?.value.toLowerCase() || "";
  return q.match(/[\p{L}\p{N}]+/gu) || (q.trim() ? [q.trim()] : []);
}

function* ranges(scope, wanted) {
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of wanted) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        yield range;
      }
    }
  }
}

function mark() {
  const place = root.querySelector(".clm-transcript");
  const wanted = words();
  if (!place || !wanted.length || !window.Highlight || !CSS.highlights) return;
  const all = new Highlight();
  for (const item of place.querySelectorAll(".clm-chunk")) {
    for (const range of ranges(item, wanted)) if (all.size < MOST) all.add(range);
  }
  CSS.highlights.set("clm-find", all);
}

function found() {
  return root.querySelector(`.clm-found[data-n="${number}"]`);
}

/* The first word in what was found, in its text rather than in its row if it stands there too. */
function stand() {
  for (const one of root.querySelectorAll(".clm-here")) one.classList.remove("clm-here");
  const here = found();
  if (!here) return;
  /* What is scrolled to stops below the bar, whatever height that has. */
  root.style.setProperty("--clm-bar", `${root.querySelector(".clm-found-bar").offsetHeight}px`);
  here.classList.add("clm-here");
  if (here.tagName === "DETAILS") here.open = true;
  reveal(here);
  const inside = here.querySelector(":scope > .clm-inner, :scope > .clm-body") || here;
  const first = ranges(inside, words()).next().value;
  const box = first?.startContainer.parentElement.closest("pre, .clm-scroll");
  if (box && box.scrollHeight > box.clientHeight) {
    box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const top = first?.getBoundingClientRect().top;
    const bar = root.querySelector(".clm-found-bar").offsetHeight;
    if (top > innerHeight - 60 || top < bar) scrollBy(0, top - innerHeight / 2);
  }));
}

/* One place further or back: on this page, or on the one that holds it. */
export function step(by) {
  const bar = root.querySelector(".clm-found-bar");
  const count = Number(bar?.dataset.n || 0);
  const wanted = by > 0 && !found() && !root.querySelector(".clm-here") ? number : number + by;
  if (!count || wanted < 1 || wanted > count) return;
  const before = number;
  number = wanted;
  const address = new URL(location.href);
  for (const name of ["page", "chunk"]) address.searchParams.delete(name);
  address.searchParams.set("hit", wanted);
  address.hash = "";
  if (!found()) {
    number = before;
    location.assign(address);
    return;
  }
  history.replaceState(null, "", address);
  bar.querySelector(".clm-found-count b").textContent = wanted.toLocaleString("en");
  bar.querySelector(".clm-hit")?.remove();
  buttons(bar, count);
  stand();
}

function buttons(bar, count) {
  const [back, on] = bar.querySelectorAll("button");
  back.disabled = number <= 1;
  on.disabled = number >= count;
}

export function start() {
  mark();
  root.addEventListener("clm-loaded", mark);
  const bar = root.querySelector(".clm-found-bar");
  const shown = bar?.querySelector(".clm-found-count b");
  if (!shown) return;
  number = Number(shown.textContent.replace(/\D/g, ""));
  [["Previous", -1], ["Next", 1]].forEach(([label, by], index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => step(by));
    bar.querySelectorAll("li")[index].replaceChildren(button);
  });
  buttons(bar, Number(bar.dataset.n));
  const card = found()?.closest(".clm-item > .clm-chunk");
  const asked = !location.hash || new URLSearchParams(location.search).has("hit") || location.hash === `#${card?.id}`;
  if (asked) stand();
}
