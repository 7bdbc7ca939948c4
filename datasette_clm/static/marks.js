/* The words of a search, marked in the transcript: what ?q= finds in it, or what ?mark= brings from the search page. */
const asked = new URLSearchParams(location.search);
const place = document.querySelector("main.clm-shell .clm-transcript");
const MOST = 2000;
const APART = "[^\\p{L}\\p{N}]+";
const SPACELESS = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";

/* Without case and accents, every character in its place. */
function folded(text) {
  let plain = "";
  for (const letter of text) {
    const base = letter.normalize("NFD").replace(/\p{M}+$/u, "").toLowerCase();
    plain += base.length === letter.length ? base : letter;
  }
  return plain;
}

/* What the words look like in folded text: whole words, or their beginning where a star says so. */
function pattern(text) {
  const parts = [];
  for (const [, dash, phrase, star, word] of text.matchAll(/(-?)"([^"]*)"(\*?)|(\S+)/g)) {
    if (dash || /^-\p{L}[\p{L}\p{N}]{2}/u.test(word || "")) continue;
    const words = folded(phrase ?? word).match(/[\p{L}\p{N}\p{M}]+/gu);
    if (!words) continue;
    const open = star || (word || "").endsWith("*");
    const letter = `(?=[\\p{L}\\p{N}])[^${SPACELESS}]`;
    const spaceless = new RegExp(`[${SPACELESS}]`, "u");
    const begin = spaceless.test(words[0][0]) ? "" : `(?<!${letter})`;
    const end = open || spaceless.test(words.at(-1).at(-1)) ? "" : `(?!${letter})`;
    parts.push(begin + words.join(APART) + end);
  }
  return parts.length ? new RegExp(parts.join("|"), "gu") : null;
}

function markIn(scope, words) {
  let left = MOST;
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_TEXT);
  const nodes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest("mark, button, .clm-foot")) nodes.push(node);
  }
  for (const node of nodes) {
    const spans = left > 0 ? [...folded(node.data).matchAll(words)].slice(0, left) : [];
    left -= spans.length;
    for (const found of spans.reverse()) {
      const mark = document.createElement("mark");
      const rest = node.splitText(found.index);
      rest.splitText(found[0].length);
      mark.textContent = rest.data;
      rest.replaceWith(mark);
    }
  }
}

/* The first mark of the chunk that was asked for is opened and brought into view; a folded step hides its preview then. */
function goTo(target) {
  const marks = target ? [...target.querySelectorAll("mark")] : [];
  for (let up = marks[0]; up && up !== target; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  const seen = marks.find((mark) => mark.getClientRects().length > 0);
  if (seen) seen.scrollIntoView({ block: "center" });
}

const words = place && pattern(asked.get("mark") || asked.get("q") || "");
if (words) {
  markIn(place, words);
  goTo(document.getElementById(location.hash.slice(1)));
  new MutationObserver((changes) => {
    for (const change of changes) {
      for (const node of change.addedNodes) {
        if (node.nodeType === Node.ELEMENT_NODE && node.tagName !== "MARK" && !node.querySelector("mark")) markIn(node, words);
      }
    }
  }).observe(place, { childList: true, subtree: true });
}
