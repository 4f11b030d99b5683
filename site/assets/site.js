// SPDX-License-Identifier: MIT OR Apache-2.0
// The menu on narrow pages, and the search. The index loads when someone first uses the search, as a script, so that the search also works on
// pages that were opened from a folder.
(() => {
  const { root } = document.currentScript.dataset;
  const menu = document.getElementById("menu");
  const sidebar = document.getElementById("sidebar");
  menu.addEventListener("click", () => {
    const open = sidebar.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  const input = document.getElementById("search");
  const found = document.getElementById("found");
  let loading;
  const load = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}/assets/search.js`;
      script.addEventListener("load", () => resolve(globalThis.clearwaySearch));
      script.addEventListener("error", () => {
        loading = undefined;
        reject(new Error("the search could not be loaded"));
      });
      document.head.append(script);
    });
    return loading;
  };

  const show = (nodes) => {
    found.replaceChildren(...nodes);
    found.hidden = nodes.length === 0;
  };
  const line = (text) => Object.assign(document.createElement("p"), { textContent: text });

  const search = async () => {
    const words = input.value.trim();
    if (words === "") return show([]);
    try {
      const results = (await load())(words);
      if (input.value.trim() !== words) return;
      if (results.length === 0) return show([line(`Nothing has "${words}".`)]);
      const list = document.createElement("ul");
      for (const { address, title, page } of results) {
        const link = Object.assign(document.createElement("a"), { href: `${root}/${address}`, textContent: title });
        link.append(Object.assign(document.createElement("small"), { textContent: page }));
        const item = document.createElement("li");
        item.append(link);
        list.append(item);
      }
      show([list]);
    } catch (error) {
      show([line(error.message)]);
    }
  };
  input.addEventListener("focus", () => void load().catch(() => {}));
  input.addEventListener("input", () => void search());
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      input.focus();
    }
    if (event.key === "Escape") {
      input.value = "";
      show([]);
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) show([]);
  });
})();
