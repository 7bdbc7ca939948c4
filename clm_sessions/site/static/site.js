/* What all pages of a site share: keys, the reader's own time zone, light and dark. No text of a log becomes markup here. */
"use strict";
const clmSite = (() => {
  const root = document.querySelector(".clm-site");
  const keys = [];

  function element(tag, options = {}, ...children) {
    const { dataset, ...properties } = options;
    const made = Object.assign(document.createElement(tag), properties);
    Object.assign(made.dataset, dataset);
    made.append(...children);
    return made;
  }

  /* Times are written in UTC; show the reader's own. */
  function localTimes() {
    const clock = { hour: "2-digit", minute: "2-digit" };
    const short = new Intl.DateTimeFormat(undefined, clock);
    const full = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", ...clock });
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title = `${full.format(at)} (${time.dateTime})`;
      time.textContent = (time.textContent.length > 5 ? full : short).format(at);
    }
  }

  function dark() {
    const chosen = document.documentElement.dataset.clmTheme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function switchTheme() {
    const theme = dark() ? "light" : "dark";
    document.documentElement.dataset.clmTheme = theme;
    try {
      localStorage.setItem("clm-theme", theme);
    } catch { /* then it holds for this page */ }
  }

  /* Each key does one thing, on every page that has it. */
  function key(letter, what, act) {
    keys.push([letter, what, act]);
  }

  function help() {
    const rows = keys.map(([letter, what]) => element("div", {}, element("dt", {}, element("kbd", { textContent: letter })), element("dd", { textContent: what })));
    const close = element("button", { textContent: "Close" });
    const form = element("form", { method: "dialog" }, close);
    const box = element("dialog", { className: "clm-keys" }, element("h2", { textContent: "Keys" }), element("dl", {}, ...rows), form);
    box.setAttribute("aria-label", "Keys");
    form.addEventListener("submit", (event) => { event.preventDefault(); box.close(); });
    box.addEventListener("click", (event) => event.target === box && box.close());
    box.addEventListener("close", () => box.remove());
    root.append(box);
    box.showModal();
  }

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
    const found = keys.find(([letter]) => letter === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });

  function start() {
    localTimes();
    const tools = element("p", { className: "clm-tools" });
    const theme = element("button", { type: "button", textContent: "Light or dark" });
    const about = element("button", { type: "button" }, "Keys ", element("kbd", { textContent: "?" }));
    theme.addEventListener("click", switchTheme);
    about.addEventListener("click", help);
    tools.append(theme, about);
    root.querySelector(".clm-top, .clm-crumbs")?.append(tools);
    key("/", "find", () => root.querySelector("#clm-q")?.focus());
    root.querySelector("#clm-q")?.addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
  }

  start();
  key("?", "these keys", help);
  return { root, element, key };
})();
