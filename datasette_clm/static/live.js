/* A session page that is open shows what is written meanwhile. It asks while somebody may look at it, less often the
   longer nothing comes. Without it the page is as it was when it was fetched. */
import { localTimes } from "./clm.js";
import { watch } from "./later.js";

const status = document.querySelector(".clm-live");
const MOST = 400; // cards on a page; what comes after them is one link away
const SOON = 1_000, LATE = 10_000, LATEST = 60_000; // milliseconds between questions
const QUIET = 60; // so many times as long as the next pause has nothing come

const marks = status && status.dataset.marks ? status.dataset.marks.split(".") : [];
const whole = Boolean(status && "marks" in status.dataset);
const first = status ? Number(status.dataset.first) : 0;
let told = status ? Number(status.dataset.total) : 0;
let seen = told, timer = 0, failed = 0, asking = false, over = false, news = Date.now();

const card = (seq) => document.getElementById(`c${seq}`)?.closest(".clm-item");
const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;

/* A card as it is now, put into the one that is shown: what did not change stays, and with it what a reader opened,
   selected or has the focus on. */
function merge(shown, now) {
  if (shown.isEqualNode(now) || fetchedSame(shown, now)) return;
  if (shown.nodeName !== now.nodeName || shown.nodeType !== Node.ELEMENT_NODE) {
    shown.replaceWith(now);
    return;
  }
  const own = (name) => name === "open" || name.startsWith("data-loaded");
  for (const { name } of [...shown.attributes]) if (!own(name) && !now.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of now.attributes) {
    if (name !== "open" && shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
  const before = [...shown.childNodes].filter((node) => !node.classList?.contains("clm-nest"));
  const after = [...now.childNodes];
  after.forEach((node, n) => (n < before.length ? merge(before[n], node) : shown.append(node)));
  before.slice(after.length).forEach((node) => node.remove());
}

/* A step whose body was fetched, and whose line says what it said: the body stays. */
function fetchedSame(shown, now) {
  if (!shown.matches?.("details.clm-step") || !now.matches?.("details.clm-step")) return false;
  const [line, other] = [shown, now].map((step) => step.querySelector(":scope > summary"));
  return Boolean(shown.querySelector(":scope > .clm-filled, :scope > .clm-inner > .clm-filled") && other && line?.isEqualNode(other));
}

function put({ seq, mark, html }) {
  const held = document.createElement("template");
  held.innerHTML = html;
  const now = held.content.querySelector(".clm-item");
  if (!now) return;
  localTimes(now);
  const shown = card(seq);
  if (shown) merge(shown, now);
  else status.before(now);
  for (const step of (shown || now).querySelectorAll("details.clm-step[open]")) watch(step);
  marks[seq - first] = mark;
}

/* What a reader looks at stays where it is. A reader at the end goes along with it. */
function keepPlace(change) {
  const follow = atEnd();
  const near = [...document.querySelectorAll(".clm-transcript .clm-item")].find((one) => one.getBoundingClientRect().bottom > 0);
  const top = near?.getBoundingClientRect().top;
  change();
  if (follow) scrollTo(scrollX, document.documentElement.scrollHeight);
  else if (near?.isConnected) scrollBy(0, near.getBoundingClientRect().top - top);
  status.classList.toggle("clm-sr", follow);
}

function say(words, seq) {
  const link = document.createElement(seq === undefined ? "span" : "a");
  link.textContent = words;
  if (seq !== undefined) link.href = card(seq) ? `#c${seq}` : `${location.pathname}?chunk=${seq}#c${seq}`;
  status.replaceChildren(link);
}

function take(answer) {
  const { total, chunks } = answer;
  if (chunks.length || total !== told) news = Date.now();
  keepPlace(() => {
    for (let seq = total; whole && seq < first + marks.length; seq += 1) card(seq)?.remove();
    if (whole && total < first + marks.length) marks.length = Math.max(0, total - first);
    for (const one of chunks) if (one.seq - first < MOST) put(one);
  });
  if (total > told) say(total - seen === 1 ? "1 new chunk" : `${(total - seen).toLocaleString()} new chunks`, seen);
  told = total;
  catchUp();
  if (answer.frozen) over = true;
}

/* At the end of the page nothing on it is new any more; the line is still said aloud. */
function catchUp() {
  if (!whole || !atEnd()) return;
  seen = told;
  status.classList.add("clm-sr");
}

async function look() {
  if (asking || over || document.hidden) return;
  asking = true;
  let more = false;
  try {
    const known = whole && marks.length < MOST ? `&have=${marks.join(".")}` : "";
    const answer = await fetch(`${status.dataset.since}?first=${first}${known}`, { cache: "no-store" });
    if ([401, 403, 404].includes(answer.status)) {
      over = true;
      say(answer.status === 404 ? "This session is no longer there." : "You may no longer see this session.");
    } else if (answer.ok) {
      const body = await answer.json();
      take(body);
      more = body.more;
      failed = 0;
    } else throw new Error(String(answer.status));
  } catch {
    failed += 1;
  }
  asking = false;
  plan(more);
}

/* When to ask next: at once, soon, or late if nothing has come for long or nobody answers. A hidden tab does not ask. */
function plan(now = false) {
  clearTimeout(timer);
  if (over || document.hidden) return;
  const quiet = Math.min(LATE, Math.max(SOON, (Date.now() - news) / QUIET));
  timer = setTimeout(look, now ? 0 : failed ? Math.min(LATEST, SOON * 2 ** failed) : quiet);
}

if (status) {
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : look()));
  addEventListener("focus", look);
  addEventListener("online", look);
  addEventListener("scroll", catchUp, { passive: true });
  plan();
}
