// SPDX-License-Identifier: MIT OR Apache-2.0
// The menu on narrow pages.
const menu = document.getElementById("menu");
const sidebar = document.getElementById("sidebar");
menu.addEventListener("click", () => {
  const open = sidebar.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(open));
});
