/* The list of sessions: facets, order, and full-text search. Its data come as scripts, for a page in a folder may load
   nothing else; each calls clmData with its name. Texts go into the page as text alone. */
"use strict";
const clmCome = new Map();
function clmData(name, value) {
  clmCome.set(name, value);
}

(() => {
  const { root, element, key } = clmSite;
  const list = root.querySelector(".clm-sessions");
  const box = root.querySelector("#clm-q");
  const facets = root.querySelector(".clm-facets");
  const boxes = facets ? [...facets.querySelectorAll("input[type=checkbox]")] : [];
  const order = root.querySelector(".clm-order select");
  const rest = root.querySelector(".clm-rest");
  const nothing = root.querySelector(".clm-nothing");
  const head = root.querySelector("#clm-list-h span");
  const rows = [...list.children].map((item, index) => ({
    item,
    index,
    has: new Set(item.dataset.has.split(" ").map(Number)),
    sizes: [-index, ...item.dataset.sizes.split(" ").map(Number)],
  }));
  const groups = [...new Set(boxes.map((one) => one.name))];
  const PAGE = 100;
  const PLACES = 3;
  const WIDEST = 16;
  const LONGEST = 40;
  let limit = PAGE;
  let found = null;
  let asked = 0;

  /* -- loading -- */

  const coming = new Map();
  function load(name) {
    if (!coming.has(name)) {
      coming.set(name, new Promise((resolve, reject) => {
        const script = element("script", { src: `data/${name}.js` });
        const failed = () => { coming.delete(name); reject(new Error(name)); };
        script.addEventListener("load", () => (clmCome.has(name) ? resolve(clmCome.get(name)) : failed()));
        script.addEventListener("error", failed);
        document.head.append(script);
      }));
    }
    return coming.get(name);
  }

  /* -- what a person types, as words of the index; site/words.py does the same with the texts -- */

  function folded(text) {
    return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").normalize("NFKC").toLowerCase();
  }

  /* {word, begins, spaced}: a word of the index; whether it may go on, as the last one and longer ones may; and whether
     words of its script stand between spaces. */
  function termsOf(text, unspaced) {
    const run = new RegExp(`([${unspaced}]+)`, "u");
    const terms = [];
    const pieces = folded(text).match(/[\p{L}\p{N}]+/gu) || [];
    pieces.forEach((piece, place) => {
      const short = place < pieces.length - 1 ? 3 : 1;
      piece.split(run).forEach((part, n) => {
        const letters = [...part];
        if (!part) return;
        if (n % 2 === 0) terms.push({ word: letters.slice(0, LONGEST).join(""), begins: letters.length > short, spaced: true });
        else if (letters.length === 1) terms.push({ word: part, begins: true, spaced: false });
        else for (let i = 0; i + 1 < letters.length; i += 1) terms.push({ word: letters[i] + letters[i + 1], begins: false, spaced: false });
      });
    });
    return terms.slice(0, 32);
  }

  /* -- the index -- */

  /* The last position in a sorted list whose value is not above the one sought; -1 for none. */
  function floor(values, sought) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] <= sought) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  async function placesOf({ word, begins }, starts) {
    const first = Math.max(0, floor(starts, word));
    const last = begins ? Math.min(floor(starts, `${word}\uffff`), first + WIDEST) : first;
    const names = Array.from({ length: last - first + 1 }, (_, n) => `words-${first + n}`);
    const held = [];
    for (const file of await Promise.all(starts.length ? names.map(load) : [])) {
      file.list ||= file.words.split(" ");
      for (let at = Math.max(0, floor(file.list, word)); at < file.list.length; at += 1) {
        const there = file.list[at];
        if (there === word || (begins && there.startsWith(word))) held.push(file.places[at]);
        else if (there > word) break;
      }
    }
    return held;
  }

  /* By number of the row: the places in it that hold all words. */
  async function lookUp(text) {
    const index = await load("search");
    const terms = termsOf(text, index.unspaced);
    const firsts = [0];
    for (const [, size] of index.groups) firsts.push(firsts.at(-1) + size);
    const hits = new Uint8Array(firsts.at(-1));
    for (let n = 0; n < terms.length; n += 1) {
      for (const steps of await placesOf(terms[n], index.starts)) {
        let place = 0;
        for (const step of steps) {
          place += step;
          if (hits[place] === n) hits[place] = n + 1;
        }
      }
    }
    const places = new Map();
    for (let row = 0, place = 0; place < hits.length; place += 1) {
      if (hits[place] !== terms.length) continue;
      while (firsts[row + 1] <= place) row += 1;
      if (!places.has(row)) places.set(row, []);
      places.get(row).push(place - firsts[row]);
    }
    return { text, places: terms.length ? places : new Map(), pattern: patternOf(terms), files: index.groups.map(([name]) => name), total: [...places.values()].reduce((sum, all) => sum + all.length, 0) };
  }

  function patternOf(terms) {
    const parts = terms.map(({ word, begins, spaced }) => (spaced ? `(?<![\\p{L}\\p{N}])${word}${begins ? "" : "(?![\\p{L}\\p{N}])"}` : word));
    return parts.length ? new RegExp(parts.join("|"), "gu") : null;
  }

  /* -- what is shown -- */

  function ticked() {
    const chosen = new Map();
    for (const one of boxes) if (one.checked) chosen.set(one.name, [...(chosen.get(one.name) || []), Number(one.dataset.number)]);
    return chosen;
  }

  function fits(row, chosen, except) {
    if (found && !found.places.has(row.index)) return false;
    for (const [name, numbers] of chosen) if (name !== except && !numbers.some((number) => row.has.has(number))) return false;
    return true;
  }

  function sorted(some) {
    const by = Number(order.value);
    if (by) return some.sort((a, b) => b.sizes[by] - a.sizes[by] || a.index - b.index);
    const titled = (row) => found?.places.get(row.index)[0] === 0;
    return found ? some.sort((a, b) => titled(b) - titled(a) || a.index - b.index) : some;
  }

  function show() {
    const chosen = ticked();
    const fitting = sorted(rows.filter((row) => fits(row, chosen)));
    const shown = new Set(fitting.slice(0, limit));
    for (const row of rows) {
      row.item.hidden = !shown.has(row);
      row.item.querySelector(".clm-places")?.remove();
    }
    const inOrder = [...shown].map((row) => row.item);
    if (inOrder.some((item, n) => n && !(inOrder[n - 1].compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING))) list.append(...inOrder);
    nothing.hidden = fitting.length > 0;
    rest.hidden = fitting.length <= limit;
    const places = found ? fitting.reduce((sum, row) => sum + found.places.get(row.index).length, 0) : 0;
    const words = fitting.length === rows.length ? `${rows.length.toLocaleString()} sessions` : `${fitting.length.toLocaleString()} of ${rows.length.toLocaleString()} sessions`;
    head.textContent = found && fitting.length ? `${words}, ${places.toLocaleString()} ${places === 1 ? "place" : "places"}` : words;
    recount(chosen);
    if (found) for (const row of shown) snippets(row);
    keep(chosen);
  }

  function recount(chosen) {
    for (const name of groups) {
      const counts = new Map();
      for (const row of rows) if (fits(row, chosen, name)) for (const number of row.has) counts.set(number, (counts.get(number) || 0) + 1);
      for (const one of boxes) {
        if (one.name !== name) continue;
        const number = counts.get(Number(one.dataset.number)) || 0;
        const label = one.closest("label");
        label.querySelector(".clm-n").textContent = number.toLocaleString();
        label.classList.toggle("clm-none", !number && !one.checked);
      }
    }
  }

  async function snippets(row) {
    const { text, places, pattern, files } = found;
    const numbers = places.get(row.index);
    const said = await load(`text-${files[row.index]}`).catch(() => []);
    if (found?.text !== text || row.item.hidden || row.item.querySelector(".clm-places")) return;
    const wanted = numbers.filter((number) => number && said[number]);
    const items = (some) => some.map((number) => placeOf(said[number], text, pattern));
    if (!wanted.length) return;
    const box = element("ol", { className: "clm-places" }, ...items(wanted.slice(0, PLACES)));
    if (wanted.length > PLACES) {
      const more = element("button", { type: "button", textContent: `${(wanted.length - PLACES).toLocaleString()} more` });
      more.addEventListener("click", () => more.parentElement.replaceWith(...items(wanted.slice(PLACES))));
      box.append(element("li", {}, more));
    }
    row.item.append(box);
  }

  function placeOf([href, what, words], text, pattern) {
    const [file, hash] = href.split("#");
    const link = element("a", { href: `sessions/${file}?q=${encodeURIComponent(text)}${hash ? `#${hash}` : ""}` });
    link.append(element("span", { className: "clm-kind", textContent: what }), " ", ...marked(words, pattern));
    return element("li", { dir: "auto" }, link);
  }

  /* The words around the first that was found, with all of them marked. */
  function marked(text, pattern) {
    const plain = folded(text);
    const same = plain.length === text.length ? plain : text.toLowerCase();
    const first = Math.max(0, same.search(pattern));
    const before = first > 50 ? text.indexOf(" ", first - 50) + 1 : 0;
    const start = before > first ? first - 50 : before;
    const end = Math.min(text.length, first + 210);
    const nodes = [start ? "… " : ""];
    let at = start;
    pattern.lastIndex = start;
    for (let hit = pattern.exec(same); hit && hit.index < end && hit[0]; hit = pattern.exec(same)) {
      nodes.push(text.slice(at, hit.index), element("mark", { textContent: text.slice(hit.index, hit.index + hit[0].length) }));
      at = hit.index + hit[0].length;
    }
    nodes.push(text.slice(at, Math.max(at, end)), end < text.length ? " …" : "");
    return nodes;
  }

  /* -- the address keeps what is asked for -- */

  function keep(chosen) {
    const address = new URLSearchParams();
    if (box.value.trim()) address.set("q", box.value.trim());
    for (const one of boxes) if (one.checked) address.append(one.name, one.value);
    if (order.value !== "0") address.set("order", order.value);
    const hash = `#${address}`;
    if (hash !== (location.hash || "#")) history.replaceState(null, "", hash);
    for (const one of facets?.querySelectorAll("fieldset") || []) one.classList.toggle("clm-on", chosen.has(one.querySelector("input").name));
  }

  function read() {
    const address = new URLSearchParams(location.hash.slice(1));
    box.value = (address.get("q") || new URLSearchParams(location.search).get("q") || "").slice(0, 200);
    for (const one of boxes) one.checked = address.getAll(one.name).includes(one.value);
    for (const one of boxes) if (one.checked && one.closest("details:not(.clm-narrow)")) one.closest("details").open = true;
    order.value = ["0", "1", "2", "3"].includes(address.get("order")) ? address.get("order") : "0";
  }

  async function search() {
    const number = asked += 1;
    const text = box.value.trim();
    let answer = null;
    try {
      if (text) answer = await lookUp(text);
    } catch {
      if (number === asked) head.textContent = "The index of words could not be loaded";
      return;
    }
    if (number !== asked) return;
    found = answer;
    limit = found ? 20 : PAGE;
    show();
  }

  /* -- keys and the beginning -- */

  function move(by) {
    const shown = [...list.children].filter((item) => !item.hidden);
    const at = shown.indexOf(document.activeElement?.closest(".clm-card"));
    shown[Math.min(shown.length - 1, Math.max(0, at + by))]?.querySelector(".clm-open").focus();
  }

  let waiting = 0;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  box.form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); search(); });
  facets?.addEventListener("change", () => { limit = found ? 20 : PAGE; show(); });
  facets?.addEventListener("submit", (event) => event.preventDefault());
  order.addEventListener("change", show);
  rest.querySelector("button").addEventListener("click", () => { limit *= 2; show(); });
  addEventListener("hashchange", () => { read(); search(); });
  key("j", "next session", () => move(1));
  key("k", "previous session", () => move(-1));

  for (const one of [box.form, facets, order.parentElement]) if (one) one.hidden = false;
  const narrow = root.querySelector(".clm-narrow");
  if (narrow) narrow.open = matchMedia("(min-width: 52rem)").matches;
  read();
  search();
})();
