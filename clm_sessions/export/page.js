/* An exported page with scripts on. This runs before the cards are there, so that find and filters work while they arrive. */
(() => {
  "use strict";
  const MOST = 2000; // words that are marked at once
  const main = document.querySelector(".clm-transcript");
  const get = (id) => document.getElementById(id);
  const [asked, bar, said] = [".clm-asked", ".clm-found-bar", ".clm-said"].map((one) => document.querySelector(one));
  const [box, tool, only] = ["clm-q", "clm-tool", "clm-only"].map(get);
  const chips = [...document.querySelectorAll("[data-only]")];
  const pressed = (button) => button.getAttribute("aria-pressed") === "true";
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  const number = (n) => n.toLocaleString("en");
  const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

  /* -- what there is: cards, and in each its places: a step, or a text that is in none -- */
  const CARD = ".clm-part > .clm-chunk";
  let parts = [];
  let cards = [];
  function read() {
    parts = [...main.querySelectorAll(":scope > .clm-part")];
    cards = parts.flatMap((part) => [...part.children]).map((card) => {
      const inside = [...card.lastElementChild.children];
      const units = inside.flatMap((one) => (one.matches(".clm-rows") ? [...one.children] : [one]));
      return { card, units: units.map((unit) => ({ unit, text: null })) };
    });
  }

  function show(element, on) {
    if (element.classList.contains("clm-out") === on) element.classList.toggle("clm-out", !on);
  }

  /* -- find and filters -- */
  let terms = [];
  let places = [];
  let here = -1;
  let shown = 0;

  function holds(one) {
    one.text ??= one.unit.textContent.toLowerCase();
    return terms.every((term) => one.text.includes(term));
  }

  function update() {
    const words = [...box.value.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)];
    terms = [...new Set(words.map((word) => word[1] ?? word[2]))];
    const on = chips.filter(pressed).map((chip) => chip.dataset.only);
    const kinds = on.filter((kind) => kind !== "errors").map((kind) => `.clm-${kind}`).join();
    const wanted = (tool?.value ? `.clm-t${tool.value}` : "") + (on.includes("errors") ? ".clm-bad" : "");
    const found = new Set();
    const narrow = pressed(only) && terms.length > 0;
    press(only, narrow);
    places = [];
    shown = 0;
    for (const { card, units } of cards) {
      const left = kinds && !card.matches(kinds) ? [] : units.filter(({ unit }) => !wanted || unit.matches(wanted));
      const hits = terms.length ? left.filter(holds) : [];
      const stays = (left.length > 0 || (!wanted && !kinds)) && (!narrow || hits.length > 0);
      show(card, stays);
      shown += stays;
      if (!stays) continue;
      places.push(...hits.map(({ unit }) => unit));
      const kept = new Set(left.map(({ unit }) => unit));
      for (const { unit } of units) show(unit, kept.has(unit));
      for (const rows of card.lastElementChild.children) if (rows.matches(".clm-rows")) show(rows, [...rows.children].some((row) => kept.has(row)));
    }
    for (const part of parts) show(part, [...part.children].some((card) => !card.matches(".clm-out")));
    here = -1;
    mark("clm-find", places);
    mark("clm-here", []);
    say();
    requestAnimationFrame(whereabouts);
  }

  function say() {
    const parts = [];
    if (terms.length && !places.length) parts.push("Nothing found");
    if (places.length) parts.push(here < 0 ? plural(places.length, "place") : `${number(here + 1)} of ${plural(places.length, "place")}`);
    if (shown < cards.length) parts.push(`${number(shown)} of ${plural(cards.length, "chunk")} shown`);
    const text = parts.join(" · ");
    if (said.textContent !== text) said.textContent = text;
    bar.hidden = !terms.length && !tool?.value && !chips.some(pressed);
    for (const button of [get("clm-prev"), get("clm-next"), only]) button.hidden = !places.length;
  }

  function clear() {
    box.value = "";
    if (tool) tool.value = "";
    for (const button of [...chips, only]) press(button, false);
    update();
  }

  /* The words in a place. They may begin in one element and end in another: code is coloured word by word. */
  function rangesIn(unit) {
    const walker = document.createTreeWalker(unit, NodeFilter.SHOW_TEXT);
    const [nodes, starts, found] = [[], [], []];
    let text = "";
    while (walker.nextNode()) {
      const data = walker.currentNode.data;
      const lower = data.toLowerCase();
      nodes.push(walker.currentNode);
      starts.push(text.length);
      text += lower.length === data.length ? lower : data;
    }
    for (const term of terms) {
      let node = 0;
      for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
        while (starts[node + 1] <= at) node += 1;
        let last = node;
        while (starts[last + 1] < at + term.length) last += 1;
        const range = new Range();
        range.setStart(nodes[node], at - starts[node]);
        range.setEnd(nodes[last], at + term.length - starts[last]);
        found.push(range);
      }
    }
    return found.sort((a, b) => a.compareBoundaryPoints(Range.START_TO_START, b));
  }

  function mark(name, units) {
    if (!window.Highlight) return;
    const marks = new Highlight();
    for (const unit of units) {
      if (marks.size >= MOST) break;
      for (const range of rangesIn(unit).slice(0, MOST - marks.size)) marks.add(range);
    }
    CSS.highlights.set(name, marks);
  }

  /* -- going somewhere -- */
  function open(element) {
    for (let up = element; up && up !== main; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  }

  /* Twice: cards above that were never drawn get their true height on the way. */
  function go(element, range) {
    if (element.closest(".clm-out")) clear();
    open(range?.startContainer.parentElement ?? element);
    const scroller = range?.startContainer.parentElement.closest("pre, .clm-scroll");
    const once = () => {
      const place = range ?? element;
      if (scroller) scroller.scrollTop += place.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 2;
      const { top } = place.getBoundingClientRect();
      scrollBy(0, range ? top - innerHeight / 2 : top - bar.offsetHeight - 12);
    };
    element.scrollIntoView();
    requestAnimationFrame(() => { once(); requestAnimationFrame(once); });
  }

  function step(by) {
    if (!places.length) return;
    here = here < 0 && by < 0 ? places.length - 1 : (here + by + places.length) % places.length;
    const unit = places[here];
    const row = unit.querySelector(":scope > summary");
    const ranges = rangesIn(unit);
    mark("clm-here", [unit]);
    go(unit, ranges.find((range) => !row?.contains(range.startContainer)) ?? ranges[0]);
    say();
  }

  /* The card that is read: the one with the focus if it is on the screen, else the one at the top. */
  function current() {
    const focused = document.activeElement?.closest(CARD);
    const place = focused?.getBoundingClientRect();
    if (place && place.bottom > 0 && place.top < innerHeight) return focused;
    const { left, width } = main.getBoundingClientRect();
    for (const below of [20, 60, 100]) {
      const card = document.elementFromPoint(left + width / 2, bar.offsetHeight + below)?.closest(CARD);
      if (card) return card;
    }
    return null;
  }

  function move(by, kind) {
    const all = cards.map(({ card }) => card);
    for (let at = all.indexOf(current()) + by; all[at]; at += by) {
      if (!all[at].matches(kind) || all[at].matches(".clm-out")) continue;
      go(all[at]);
      all[at].querySelector(".clm-permalink")?.focus({ preventScroll: true });
      return;
    }
  }

  function openSteps(some) {
    const steps = some.flatMap(({ units }) => units.map(({ unit }) => unit)).filter((unit) => unit.tagName === "DETAILS");
    const opening = steps.some((one) => !one.open);
    for (const one of steps) one.open = opening;
    return opening;
  }

  function openAll() {
    get("clm-all").textContent = openSteps(cards.filter(({ card }) => !card.matches(".clm-out"))) ? "Close all steps" : "Open all steps";
    requestAnimationFrame(whereabouts);
  }

  function follow() {
    const target = get(location.hash.slice(1));
    if (target && main.contains(target)) go(target);
  }

  /* The outline marks the entry that the card at the top belongs to. */
  const links = new Map([...document.querySelectorAll(".clm-outline a")].map((link) => [link.hash.slice(1), link]));
  let waiting = false;
  function whereabouts() {
    waiting = false;
    let card = current() ?? (main.getBoundingClientRect().top > 0 ? cards[0]?.card : null);
    while (card && !links.has(card.id)) card = card.previousElementSibling ?? card.parentElement.previousElementSibling?.lastElementChild;
    const link = card && links.get(card.id);
    if (!link || link.hasAttribute("aria-current")) return;
    for (const other of links.values()) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const column = link.closest(".clm-side");
    if (getComputedStyle(column).position !== "sticky") return;
    column.scrollTop += link.getBoundingClientRect().top - column.getBoundingClientRect().top - column.clientHeight / 2;
  }

  /* -- the keyboard: one letter for what is done often. They can be switched off, and Tab reaches everything. -- */
  const KEYS = {
    "/": () => box.focus(),
    n: () => step(1),
    p: () => step(-1),
    j: () => move(1, "*"),
    k: () => move(-1, "*"),
    "]": () => move(1, ".clm-user"),
    "[": () => move(-1, ".clm-user"),
    o: () => openSteps(cards.filter(({ card }) => card === current())),
    O: openAll,
  };

  addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === box && event.key === "Enter") {
      clearTimeout(pause);
      if (pause) update();
      pause = 0;
      step(event.shiftKey ? -1 : 1);
    } else if (event.target === box && event.key === "Escape") {
      event.preventDefault(); // the words stay, for n and p
      box.blur();
    } else if (Object.hasOwn(KEYS, event.key) && get("clm-use-keys").checked && !event.target.closest?.("input, select")) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });

  let pause = 0;
  box.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => { pause = 0; update(); }, 150);
  });
  tool?.addEventListener("change", update);
  for (const button of [...chips, only]) {
    button.addEventListener("click", () => {
      press(button, !pressed(button));
      update();
    });
  }
  get("clm-prev").addEventListener("click", () => step(-1));
  get("clm-next").addEventListener("click", () => step(1));
  get("clm-clear").addEventListener("click", clear);
  get("clm-all").addEventListener("click", openAll);
  addEventListener("hashchange", follow);
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(whereabouts);
    waiting = true;
  }, { passive: true });

  /* Paper shows everything that is folded. */
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

  asked.hidden = false;
  addEventListener("DOMContentLoaded", () => {
    read();
    update();
    follow();
  });
})();
