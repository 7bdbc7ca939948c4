/* Copying: the session and a chunk as Markdown, the command that resumes the session, the link to a chunk. */
import { root } from "./clm.js";
import { current } from "./place.js";

let said = null;

function say(words) {
  if (!said) {
    said = document.createElement("p");
    said.className = "clm-said";
    said.setAttribute("role", "status");
    root.append(said);
  }
  said.textContent = words;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { said.textContent = ""; }, 2500);
}

/* Without a secure origin there is no clipboard: the old way, by a selected field. */
async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "clm-sr";
  root.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("refused");
}

async function copy(what, text) {
  try {
    await toClipboard(typeof text === "string" ? text : await text());
    say(`Copied ${what}`);
  } catch {
    say(`Could not copy ${what}: the browser did not allow it`);
  }
}

function text(href) {
  return async () => {
    const answer = await fetch(href);
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  };
}

export function link(card = current()) {
  const address = card?.querySelector(".clm-permalink")?.href;
  if (address) copy("the link", address);
}

export function markdown(card = current()) {
  const whole = card?.closest(".clm-item")?.querySelector(".clm-whole");
  if (whole) copy("the chunk as Markdown", text(`${new URL(whole.href).pathname}.md`));
}

function button(label, about, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "clm-copy";
  made.textContent = label;
  if (about) made.setAttribute("aria-label", `${label} ${about}`);
  made.addEventListener("click", act);
  return made;
}

export function start() {
  const resume = root.querySelector(".clm-resume");
  resume?.after(" ", button("Copy", "the command", () => copy("the command", resume.textContent)));
  const whole = root.querySelector(".clm-as-markdown");
  whole?.parentElement.append(" ", button("Copy Markdown", "of this page", () => copy("the page as Markdown", text(whole.href))));
  for (const foot of root.querySelectorAll(".clm-foot")) {
    const card = foot.parentElement.querySelector(":scope > .clm-chunk");
    const about = `of chunk ${Number(card.id.slice(1)) + 1}`;
    foot.prepend(
      button("Copy link", about, () => link(card)),
      button("Copy Markdown", about, () => markdown(card)),
    );
  }
}
