// SPDX-License-Identifier: MIT OR Apache-2.0
// The frame of every page. All addresses in it are relative, so that the site works from a folder under any base path.
import { dirname, relative } from "node:path";

/** The navigation: groups of pages, each an address and its name. */
export const navigation = [
  {
    title: "Start",
    pages: [
      ["index.html", "Overview"],
      ["try/index.html", "Try it here"],
      ["docs/runs-with.html", "Runs with"],
      ["docs/recipes.html", "Recipes"],
      ["docs/recipes-streams.html", "Recipes: streams"],
      ["docs/recipes-pools.html", "Recipes: errors"],
      ["docs/recipes-apps.html", "Recipes: apps"],
      ["docs/comparison.html", "Comparison"],
      ["docs/differences.html", "Coming from others"],
      ["docs/terms.html", "Terms"],
    ],
  },
  {
    title: "Guides",
    pages: [
      ["docs/guide.html", "Tasks, pools, streams"],
      ["docs/guarantees.html", "Guarantees, limits"],
      ["docs/offload.html", "Offload a function"],
      ["docs/records.html", "Records"],
      ["docs/channel.html", "Channels"],
      ["docs/transports.html", "Transports and schemas"],
      ["docs/remote.html", "Remote pools"],
      ["docs/scale-out.html", "Past one machine"],
      ["docs/native.html", "Native plugins"],
      ["docs/meter.html", "The meter"],
      ["jvm/index.html", "The JVM"],
      ["swift/index.html", "Swift"],
    ],
  },
  {
    title: "Measurements",
    pages: [
      ["docs/performance.html", "Performance"],
      ["docs/experiments.html", "Five experiments"],
      ["report.html", "A run of the lab"],
      ["docs/lab/bench.html", "Measure your code"],
      ["docs/lab/jank.html", "Find jank"],
      ["docs/lab/ratio.html", "Another device"],
      ["docs/lab/method.html", "Method"],
    ],
  },
  {
    title: "Reference",
    pages: [
      ["reference/index.html", "API"],
      ["spec/errors.html", "Errors"],
      ["docs/index.html", "All pages"],
      ["ARCHITECTURE.html", "Architecture"],
      ["CONTRIBUTING.html", "Contributing"],
      ["CHANGELOG.html", "Changes"],
    ],
  },
];

/**
 * Returns a page. `has` tells whether the site has an address: the navigation leaves out what was not built, such as the reference without
 * its toolchains.
 */
export function page({ address, title, html, headings = [], has, head = "" }) {
  const to = (target) => escaped(relative(dirname(address), target) || ".");
  const groups = navigation
    .map(({ title: group, pages }) => ({ group, pages: pages.filter(([target]) => has(target)) }))
    .filter(({ pages }) => pages.length > 0);
  const flat = groups.flatMap(({ pages }) => pages);
  const at = flat.findIndex(([target]) => target === address);
  const item = ([target, name]) =>
    `<li><a href="${to(target)}"${target === address ? ' aria-current="page"' : ""}>${escaped(name)}</a></li>`;
  const around = [
    at > 0 ? `<a rel="prev" href="${to(flat[at - 1][0])}">← ${escaped(flat[at - 1][1])}</a>` : "",
    at >= 0 && at + 1 < flat.length
      ? `<a rel="next" href="${to(flat[at + 1][0])}">${escaped(flat[at + 1][1])} →</a>`
      : "",
  ];
  const contents = headings.map(
    ({ level, id, title: name }) => `<li class="level${level}"><a href="#${escaped(id)}">${escaped(name)}</a></li>`,
  );
  const onPage =
    headings.length < 3
      ? ""
      : `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents.join("\n")}</ul></nav>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title === "Clearway" ? title : `${title} · Clearway`)}</title>
<link rel="icon" href="${to("assets/icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${to("assets/style.css")}">
<script defer src="${to("assets/site.js")}"></script>
${head}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="name" href="${to("index.html")}"><img src="${to("assets/icon.svg")}" alt="" width="24" height="24">Clearway</a>
<button id="menu" class="menu" type="button" aria-expanded="false" aria-controls="sidebar">Menu</button>
</header>
<div class="columns">
<nav id="sidebar" class="sidebar" aria-label="Pages">
${groups.map(({ group, pages }) => `<p>${escaped(group)}</p>\n<ul>${pages.map(item).join("\n")}</ul>`).join("\n")}
</nav>
<main id="content" tabindex="-1">
${onPage}
<article>
${html}
</article>
${at < 0 ? "" : `<nav class="around" aria-label="Neighbouring pages">${around.join("\n")}</nav>`}
</main>
</div>
</body>
</html>
`;
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Returns a text with the characters escaped that HTML gives a meaning. */
export const escaped = (text) => String(text).replace(/[&<>"']/g, (character) => entities[character]);
