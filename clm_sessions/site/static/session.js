/* A page of a transcript: find on the page, places named in the address, the outline, keys. */
"use strict";
(() => {
  const { root, element, key } = clmSite;
  const layout = root.querySelector(".clm-layout");
  const transcript = root.querySelector(".clm-transcript");
  const form = root.querySelector(".clm-find");
  const box = form.querySelector("input");
  const cards = [...transcript.querySelectorAll(":scope > .clm-chunk")];
  const MOST = 5000;
  let found = [];
  let here = -1;

  /* -- going somewhere -- */

  function reveal(target) {
    for (let up = target; up && up !== transcript; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    /* Twice: cards above that were never drawn get their true height on the way. */
    target.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => target.scrollIntoView({ block: "start" }));
  }

  function current() {
    const focused = document.activeElement?.closest(".clm-transcript > .clm-chunk");
    return focused || cards.find((card) => card.getBoundingClientRect().bottom > 60) || cards.at(-1);
  }

  function move(by, wanted) {
    for (let at = cards.indexOf(current()) + by; cards[at]; at += by) {
      if (!cards[at].matches(wanted)) continue;
      reveal(cards[at]);
      cards[at].querySelector(".clm-permalink").focus({ preventScroll: true });
      return;
    }
    follow(by > 0 ? "next" : "prev");
  }

  function follow(rel) {
    transcript.querySelector(`.clm-pager a[rel="${rel}"]`)?.click();
  }

  /* #c12 or #c12-3; if that is on another page of the session, there. */
  function followHash() {
    const asked = /^#c(\d{1,9})(?:-\d{1,9})?$/.exec(location.hash);
    if (!asked) return;
    const target = document.getElementById(location.hash.slice(1)) || document.getElementById(`c${asked[1]}`);
    if (target) {
      reveal(target);
      return;
    }
    const starts = layout.dataset.starts.split(" ").map(Number);
    const page = Math.max(1, starts.filter((start) => start <= Number(asked[1])).length);
    const file = `${layout.dataset.name}${page > 1 ? `.${page}` : ""}.html`;
    if (!location.pathname.endsWith(`/${file}`)) location.replace(file + location.search + location.hash);
  }

  /* -- finding -- */

  /* The text of a card with the nodes it consists of, so that words are found across the colours of code. */
  function* ranges(card, needles) {
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    const nodes = [];
    const starts = [];
    let text = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      nodes.push(node);
      starts.push(text.length);
      text += node.data;
    }
    const lower = text.toLowerCase();
    const within = lower.length === text.length ? lower : text;
    const hits = [];
    for (const needle of needles) {
      for (let at = within.indexOf(needle); at >= 0; at = within.indexOf(needle, at + needle.length)) hits.push([at, at + needle.length]);
    }
    hits.sort((a, b) => a[0] - b[0]);
    let node = 0;
    for (const [start, end] of hits) {
      while (node + 1 < nodes.length && starts[node + 1] <= start) node += 1;
      let last = node;
      while (last + 1 < nodes.length && starts[last + 1] < end) last += 1;
      const range = new Range();
      range.setStart(nodes[node], start - starts[node]);
      range.setEnd(nodes[last], end - starts[last]);
      yield range;
    }
  }

  function find(needles) {
    found = [];
    here = -1;
    for (const card of needles.length ? cards : []) {
      for (const range of ranges(card, needles)) if (found.length < MOST) found.push(range);
    }
    if (window.Highlight && CSS.highlights) CSS.highlights.set("clm-find", new Highlight(...found));
    tell();
  }

  const count = element("output", { className: "clm-found-count" });
  const ways = [["Previous", -1], ["Next", 1]].map(([label, by]) => {
    const button = element("button", { type: "button", textContent: label });
    button.addEventListener("click", () => step(by));
    return button;
  });
  const bar = element("div", { className: "clm-found-bar", hidden: true }, count, ...ways);

  function tell() {
    bar.hidden = !box.value.trim() && !found.length;
    for (const way of ways) way.disabled = !found.length;
    const all = found.length >= MOST ? `${MOST.toLocaleString()} or more` : found.length.toLocaleString();
    count.textContent = !found.length ? "Not on this page" : here < 0 ? `${all} on this page` : `${(here + 1).toLocaleString()} of ${all}`;
  }

  function step(by) {
    if (!found.length) return;
    here = here < 0 ? (by > 0 ? 0 : found.length - 1) : (here + by + found.length) % found.length;
    const range = found[here];
    if (window.Highlight && CSS.highlights) CSS.highlights.set("clm-found", new Highlight(range));
    const parent = range.startContainer.parentElement;
    for (let up = parent; up && up !== transcript; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
    parent.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => {
      parent.scrollIntoView({ block: "center" });
      const box = parent.closest("pre, .clm-scroll");
      if (box && box.scrollHeight > box.clientHeight) {
        box.scrollTop += range.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
      }
    });
    tell();
  }

  function typed() {
    const words = box.value.trim().toLowerCase();
    find(words ? [words] : []);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (here < 0) typed();
    step(1);
  });
  box.addEventListener("input", typed);

  /* Whoever comes from the search page sees the words marked, and where they are in the chunk. */
  function fromSearch() {
    const asked = new URLSearchParams(location.search).get("q") || "";
    const needles = [...new Set(asked.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [])].slice(0, 16);
    if (!needles.length) return;
    box.value = asked.slice(0, 200);
    find(needles);
    const card = document.getElementById(location.hash.slice(1));
    const first = card ? found.findIndex((range) => card.contains(range.startContainer)) : -1;
    if (first >= 0) {
      here = first - 1;
      step(1);
    }
  }

  /* -- the outline marks what the reader is at -- */

  function markOutline() {
    const links = new Map([...root.querySelectorAll('.clm-outline a[href^="#c"]')].map((link) => [link.hash.slice(1), link]));
    if (!links.size) return;
    const side = root.querySelector(".clm-side");
    const [first] = links.values();
    if (side.scrollHeight > side.clientHeight) side.scrollTop = first.getBoundingClientRect().top - side.getBoundingClientRect().top - 60;
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
      const first = Math.max(0, cards.findIndex((card) => seen.has(card)));
      let at = null;
      for (let i = first; i >= 0 && !at; i -= 1) at = links.get(cards[i].id);
      for (const link of links.values()) if (link !== at) link.removeAttribute("aria-current");
      if (!at || at.hasAttribute("aria-current")) return;
      at.setAttribute("aria-current", "true");
      if (side.scrollHeight > side.clientHeight) side.scrollTop += at.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 2;
    }, { rootMargin: "0px 0px -60% 0px" });
    cards.forEach((card) => watch.observe(card));
  }

  function openAll(scope) {
    const steps = [...scope.querySelectorAll("details.clm-step")].filter((one) => !one.closest(".clm-nest"));
    const open = steps.some((one) => !one.open);
    for (const one of steps) one.open = open;
  }

  key("n", "next place found", () => step(1));
  key("p", "previous place found", () => step(-1));
  key("j", "next chunk", () => move(1, "*"));
  key("k", "previous chunk", () => move(-1, "*"));
  key("]", "next prompt", () => move(1, ".clm-user"));
  key("[", "previous prompt", () => move(-1, ".clm-user"));
  key("l", "next page", () => follow("next"));
  key("h", "previous page", () => follow("prev"));
  key("o", "open or close the steps of the chunk", () => current() && openAll(current()));
  key("O", "open or close the steps of the page", () => openAll(transcript));
  key("u", "all sessions", () => root.querySelector('.clm-crumbs a[rel="up"]').click());

  form.hidden = false;
  /* Where there is no room beside the cards, it stays above them while they scroll. */
  if (matchMedia("(max-width: 56rem)").matches) transcript.prepend(bar);
  else form.after(bar);
  addEventListener("hashchange", followHash);
  followHash();
  fromSearch();
  markOutline();
})();
