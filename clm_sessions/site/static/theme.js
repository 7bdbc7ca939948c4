/* Before anything is painted: light or dark, if the reader chose; otherwise both follow the system. */
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("clm-theme");
  } catch { /* a browser may keep nothing for pages in a folder */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.clmTheme = chosen;
})();
