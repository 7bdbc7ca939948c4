/* What a page left out is fetched when it is opened: the body of a step, a subagent, the records of a chunk.
   Its link leads to a page that holds it; the part alone stands below the path of that page, at /cards. */
import { localTimes, root } from "./clm.js";

const LINK = ":scope > .clm-goto > a, :scope > .clm-inner > .clm-goto > a";

export function partOf(href) {
  const url = new URL(href, location.href);
  return `${url.pathname}/cards${url.search}`;
}

async function fetched(link, into) {
  const answer = await fetch(partOf(link.href));
  if (!answer.ok) throw new Error(String(answer.status));
  into.innerHTML = await answer.text();
  localTimes(into);
  for (const step of into.querySelectorAll("details[open]")) watch(step);
  root.dispatchEvent(new CustomEvent("clm-loaded", { detail: into }));
}

async function fill(link) {
  if (link.dataset.asked) return;
  link.dataset.asked = "yes";
  const line = link.parentElement;
  const box = document.createElement("div");
  box.className = line.matches(".clm-later, .clm-more") ? "clm-filled" : "clm-nest";
  box.innerHTML = '<p class="clm-loading" role="status">Loading …</p>';
  line.after(box);
  try {
    await fetched(link, box);
    if (box.className === "clm-filled") line.remove();
  } catch {
    delete link.dataset.asked;
    box.innerHTML = '<p class="clm-loading" role="alert">It could not be loaded. The link above leads to a page of its own.</p>';
    setTimeout(() => box.remove(), 8000);
  }
}

/* Only what is near the screen is fetched, so that all steps of a page may be opened at once. */
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    if (target.open) for (const link of target.querySelectorAll(LINK)) fill(link);
  }
}, { rootMargin: "600px 0px" });

export function watch(step) {
  if (step.querySelector(LINK)) near.observe(step);
}

export function start() {
  root.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches("details.clm-step, details.clm-records")) watch(event.target);
  }, true);
  root.addEventListener("click", (event) => {
    const link = event.target.closest(".clm-more > a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    fill(link);
  }, true);
  for (const step of root.querySelectorAll("details.clm-step[open]")) watch(step);
}
