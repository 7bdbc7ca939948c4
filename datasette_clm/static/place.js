/* Where the reader is: going to a chunk, staying there when the page changes, and the mark in the outline. */
import { root } from "./clm.js";

const KEPT = "clm-place";

export function cards() {
  return [...root.querySelectorAll(".clm-item > .clm-chunk")];
}

export function seqOf(card) {
  return Number(card.id.slice(1));
}

function upper() {
  const bar = root.querySelector(".clm-found-bar");
  return bar ? bar.offsetHeight + 12 : 12;
}

/* The card that is read: the one with the focus if it is on the screen, else the first that reaches below the top. */
export function current() {
  const focused = document.activeElement?.closest(".clm-item > .clm-chunk");
  if (focused) {
    const { top, bottom } = focused.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) return focused;
  }
  return cards().find((card) => card.getBoundingClientRect().bottom > upper() + 20) || cards().at(-1) || null;
}

export function reveal(element) {
  for (let up = element.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  /* Twice: cards above that were never drawn get their true height on the way. */
  element.scrollIntoView();
  requestAnimationFrame(() => element.scrollIntoView());
}

export function goTo(card) {
  reveal(card);
  card.querySelector(".clm-permalink")?.focus({ preventScroll: true });
}

/* #c12 or #c12-3. On a page that does not hold it: the page that does, or, among filtered chunks, the nearest one. */
function followHash() {
  const found = /^#c(\d{1,9})(-\d{1,9})?$/.exec(location.hash);
  if (!found) return;
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    if (target.tagName === "DETAILS") target.open = true;
    reveal(target);
    return;
  }
  const all = cards();
  if (!root.querySelector(".clm-transcript")) return;
  const address = new URLSearchParams(location.search);
  if (address.get("chunk") !== found[1] && !address.has("hit")) {
    location.replace(`${location.pathname}?chunk=${found[1]}${location.hash}`);
  } else if (all.length) {
    reveal(all.find((card) => seqOf(card) >= Number(found[1])) || all.at(-1));
  }
}

/* Links that change what is shown lead to the same place in it. */
function keepPlace() {
  root.addEventListener("click", (event) => {
    const link = event.target.closest(".clm-chips a, .clm-narrowed a, .clm-found-stay");
    const card = link && current();
    if (!card) return;
    const url = new URL(link.href);
    url.searchParams.delete("page");
    url.searchParams.set("chunk", seqOf(card));
    url.hash = card.id;
    link.href = url.href;
    sessionStorage.setItem(KEPT, JSON.stringify([card.id, Math.round(card.getBoundingClientRect().top)]));
  }, true);
  const [id, top] = JSON.parse(sessionStorage.getItem(KEPT) || "[]");
  sessionStorage.removeItem(KEPT);
  const card = location.hash === `#${id}` && document.getElementById(id);
  if (card) requestAnimationFrame(() => requestAnimationFrame(() => scrollBy(0, card.getBoundingClientRect().top - top)));
}

/* The outline marks the entry that the card at the top belongs to. */
function markOutline() {
  const links = new Map();
  for (const link of root.querySelectorAll('.clm-outline a[href^="#c"]')) links.set(link.hash.slice(1), link);
  if (!links.size) return;
  const all = cards();
  const seen = new Set();
  const side = root.querySelector(".clm-side");
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
    const first = all.findIndex((card) => seen.has(card));
    const marked = [...links.values()].some((link) => link.hasAttribute("aria-current"));
    if (first < 0 && marked) return; // below the last card; above the first one that is where the reader begins
    const top = Math.max(0, first);
    let here = null;
    for (let i = top; i >= 0 && !here; i -= 1) here = links.get(all[i].id) || null;
    for (const link of links.values()) if (link !== here) link.removeAttribute("aria-current");
    if (!here || here.hasAttribute("aria-current")) return;
    here.setAttribute("aria-current", "true");
    if (side.scrollHeight > side.clientHeight) {
      side.scrollTop += here.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 2;
    }
  }, { rootMargin: "0px 0px -60% 0px" });
  all.forEach((card) => watch.observe(card));
}

export function start() {
  followHash();
  addEventListener("hashchange", followHash);
  keepPlace();
  markOutline();
}
