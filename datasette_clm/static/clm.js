/* What all our pages share with scripts on; without them every link still leads to the same content. */
export const root = document.querySelector("main.clm-shell");

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

if (root) {
  keepClicks();
  followTheme();
  localTimes(root);
}
