/* "/" goes to the search box from anywhere on the page. */
const box = document.getElementById("clm-q");

if (box) {
  document.addEventListener("keydown", (event) => {
    const there = event.target;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (there instanceof HTMLElement && (there.isContentEditable || there.matches("input, textarea, select"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    box.focus();
    box.select();
  }, true);
}
