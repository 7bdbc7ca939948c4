/* What the transcript can do with scripts on; without them every link still leads to the same content. */
const root = document.querySelector("main.clm-shell");

/* Datasette 0.65 closes every open <details> at a click outside of it. Our clicks stay ours; its menus still close. */
function keepClicks() {
  root.addEventListener("click", (event) => {
    event.stopPropagation();
    for (const menu of document.querySelectorAll("header details[open]")) menu.open = false;
  });
}

/* A theme plugin repaints the page: follow it. With Datasette's own colours, light or dark follows the system. */
function followTheme() {
  document.body.classList.remove("clm-datasette");
  const style = getComputedStyle(document.body);
  const background = style.backgroundColor;
  const parts = (background.match(/[\d.]+/g) || []).map(Number);
  const light = parts.length < 3 ? 1 : (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
  if (light > 0.96 || parts[3] === 0) {
    document.body.classList.add("clm-datasette");
    return;
  }
  document.documentElement.dataset.clmTheme = light < 0.5 ? "dark" : "light";
  root.style.setProperty("--clm-bg", background);
  root.style.setProperty("--clm-fg", style.color);
}

/* Times are written in UTC; show the reader's own. */
export function localTimes(scope) {
  for (const time of scope.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const seconds = /^\d\d:\d\d:\d\d$/.test(time.textContent);
    const clock = { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) };
    const full = { day: "numeric", month: "short", year: "numeric", ...clock };
    time.title = `${at.toLocaleString()} (${time.dateTime})`;
    time.textContent = at.toLocaleString(undefined, time.textContent.length > 5 && !seconds ? full : clock);
  }
}

/* #c12 on a page that does not hold it: go to the page that does. */
function followHash() {
  const found = /^#c(\d{1,9})$/.exec(location.hash);
  if (!found) return;
  const target = document.getElementById(`c${found[1]}`);
  if (target) {
    for (let up = target.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    target.scrollIntoView();
  } else if (new URLSearchParams(location.search).get("chunk") !== found[1] && root.querySelector(".clm-transcript")) {
    location.replace(`${location.pathname}?chunk=${found[1]}${location.hash}`);
  }
}

/* A subagent's transcript is fetched when its step is first opened. */
async function loadAgent(step) {
  const link = step.querySelector(":scope > .clm-in > .clm-goto > a, :scope > .clm-inner > .clm-goto > a");
  if (!link || step.dataset.loaded) return;
  step.dataset.loaded = "yes";
  const nest = document.createElement("div");
  nest.className = "clm-nest";
  nest.innerHTML = '<p class="clm-loading" role="status">Loading …</p>';
  link.parentElement.after(nest);
  try {
    const answer = await fetch(`${new URL(link.href).pathname}/cards`);
    if (!answer.ok) throw new Error(String(answer.status));
    nest.innerHTML = await answer.text();
    localTimes(nest);
  } catch {
    nest.remove();
    delete step.dataset.loaded;
  }
}

/* The outline marks where the reader is. */
function markPlace() {
  const links = new Map();
  for (const link of root.querySelectorAll('.clm-outline a[href^="#c"]')) links.set(link.hash.slice(1), link);
  if (!links.size || !("IntersectionObserver" in window)) return;
  const cards = [...root.querySelectorAll(".clm-transcript .clm-chunk[id]")];
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
    const top = cards.findIndex((card) => seen.has(card));
    if (top < 0) return;
    let here = null;
    for (let i = top; i >= 0 && !here; i -= 1) here = links.get(cards[i].id) || null;
    for (const link of links.values()) if (link !== here) link.removeAttribute("aria-current");
    if (here && !here.hasAttribute("aria-current")) {
      here.setAttribute("aria-current", "true");
      const side = here.closest(".clm-side");
      if (side && side.scrollHeight > side.clientHeight) {
        side.scrollTop += here.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 2;
      }
    }
  }, { rootMargin: "0px 0px -60% 0px" });
  cards.forEach((card) => watch.observe(card));
}

/* The words of a search, marked in the cards. */
function markWords() {
  const q = root.querySelector("#clm-q");
  const place = root.querySelector(".clm-transcript");
  if (!q || !place || !q.value || !window.Highlight || !CSS.highlights) return;
  const words = q.value.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  const ranges = [];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("clm-find", new Highlight(...ranges));
}

if (root) {
  keepClicks();
  followTheme();
  localTimes(root);
  followHash();
  addEventListener("hashchange", followHash);
  root.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches("details.clm-step")) loadAgent(event.target);
  }, true);
  for (const step of root.querySelectorAll("details.clm-step[open]")) loadAgent(step);
  markPlace();
  markWords();
}
