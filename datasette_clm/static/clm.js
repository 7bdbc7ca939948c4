/* What all our pages share with scripts on; without them every link still leads to the same content. */
export const root = document.querySelector("main.clm-shell");
/* Backgrounds without a theme: Datasette's, and ours where the system is dark. */
const OWN_GROUNDS = ["rgb(248, 250, 251)", "rgb(20, 24, 29)"];

/* Datasette 0.65 closes every open <details> at a click outside of it. Our clicks stay ours; its menus still close. */
function keepClicks() {
  root.addEventListener("click", (event) => {
    event.stopPropagation();
    for (const menu of document.querySelectorAll("header details[open]")) menu.open = false;
  });
}

/* Colours painted over each other, in whatever way they are written: red, green and blue of 0 to 255. */
function painted(colours) {
  const pen = document.createElement("canvas").getContext("2d");
  for (const colour of ["white", ...colours]) {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
  }
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/* Relative luminance and contrast as WCAG 2 has them. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/* A colour of the theme, as much darker or lighter as it takes to stand out from the paper by ``least``. */
function readable(colour, paper, light, least) {
  const mixed = [20, 40, 60, 80].map((share) => `color-mix(in srgb, ${light ? "black" : "white"} ${share}%, ${colour})`);
  return [colour, ...mixed].find((one) => contrast(painted([one]), paper) >= least) || mixed.at(-1);
}

function linkColour() {
  const link = root.parentElement.appendChild(document.createElement("a"));
  link.href = "#";
  const colour = getComputedStyle(link).color;
  link.remove();
  return colour;
}

/* A theme plugin repaints the page: follow it. With Datasette's own colours, light or dark follows the system.
   On a ground of middling brightness none of our colours could be read: there the page gets paper of its own. */
function followTheme() {
  const body = getComputedStyle(document.body);
  if (OWN_GROUNDS.includes(body.backgroundColor)) return;
  const behind = [];
  for (let one = root.parentElement; one; one = one.parentElement) behind.unshift(getComputedStyle(one).backgroundColor);
  const bright = luminance(painted(behind));
  const light = luminance(painted([...behind, body.color])) < bright;
  const follows = light ? bright > 0.75 : bright < 0.05;
  const paper = painted([...behind, ...(follows ? [] : [light ? "rgb(255 255 255 / 88%)" : "rgb(0 0 0 / 75%)"])]);
  const page = document.documentElement;
  page.dataset.clmTheme = light ? "light" : "dark";
  page.toggleAttribute("data-clm-paper", !follows);
  page.style.setProperty("--clm-theme-bg", `rgb(${paper.join(" ")})`);
  page.style.setProperty("--clm-theme-fg", readable(body.color, paper, light, 7));
  page.style.setProperty("--clm-theme-accent", readable(linkColour(), paper, light, 5.5));
  page.style.setProperty("--clm-theme-font", body.fontFamily);
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
