// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the pages of the site: the pages of the navigation, and everything in the repository that they link to, directly or through others.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, normalize, relative } from "node:path";
import { root } from "../scripts/sources.mjs";
import { escaped } from "./layout.mjs";
import { codeHtml, render } from "./markdown.mjs";

const images = new Set([".png", ".svg", ".jpg", ".gif"]);
/** Files that are larger are not shown as source. Tools wrote them, and no person reads them. */
const shownBytesMax = 400_000;

/** Returns the address in the site of a path in the repository. A folder is the path of its README or of a list of its files. */
export function addressOf(path) {
  if (path === "README.md") return "index.html";
  if (isFolder(path)) return path === "" ? "index.html" : join(path, "index.html");
  if (basename(path) === "README.md") return join(dirname(path), "index.html");
  if (extname(path) === ".md") return path.replace(/\.md$/, ".html");
  return images.has(extname(path)) ? path : `${path}.html`;
}

const isFolder = (path) => existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();
const outside = /^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i;

/**
 * Returns the pages by address, and the files to copy. `extra` has pages that the build makes itself, such as the report: the addresses that
 * links may name although the repository has no such file. `coloured(path)` says whether the code of a source file is highlighted.
 */
export function crawl(start, extra = new Map(), coloured = () => true) {
  const pages = new Map();
  const copies = new Set();
  const problems = [];
  const waiting = [...start];
  const seen = new Set(waiting);
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    waiting.push(path);
  };
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const address = addressOf(path);
    if (images.has(extname(path))) {
      copies.add(path);
      continue;
    }
    const link = (href) => {
      if (outside.test(href)) return href;
      const [target, fragment] = href.split("#");
      const there = normalize(join(isFolder(path) ? path : dirname(path), decodeURIComponent(target)))
        .replace(/\/$/, "")
        .replace(/^\.$/, "");
      const own = extra.get(there);
      if (own === undefined && (there.startsWith("..") || !existsSync(join(root, there)))) {
        problems.push(`${path}: ${href} leads to nothing`);
        return href;
      }
      const file = isFolder(there) && existsSync(join(root, there, "README.md")) ? join(there, "README.md") : there;
      if (own === undefined) visit(file);
      const to = relative(dirname(address), own ?? addressOf(file)) || basename(address);
      return fragment === undefined ? to : `${to}#${fragment}`;
    };
    pages.set(address, pageOf(path, link, coloured));
  }
  return { pages, copies, problems };
}

function pageOf(path, link, coloured) {
  if (isFolder(path)) return { path, ...folderPage(path, link) };
  if (statSync(join(root, path)).size > shownBytesMax) {
    const note = `<h1>${escaped(basename(path))}</h1><p>The file <code>${escaped(path)}</code> is too large to be shown here. The repository has it.</p>`;
    return { path, html: note, title: basename(path), headings: [] };
  }
  const text = readFileSync(join(root, path), "utf8");
  if (extname(path) === ".md") return { path, ...render(text, link) };
  const html = `<h1>${escaped(basename(path))}</h1>
<p class="path"><code>${escaped(path)}</code></p>
${codeHtml(text, coloured(path) ? extname(path).slice(1) : "")}`;
  return { path, html, title: basename(path), headings: [] };
}

function folderPage(path, link) {
  const names = readdirSync(join(root, path))
    .filter((name) => !/^(?:node_modules|dist|target|build|out|\..*)$/.test(name))
    .sort();
  const items = names.map(
    (name) => `<li><a href="${escaped(link(encodeURIComponent(name)))}"><code>${escaped(name)}</code></a></li>`,
  );
  return {
    html: `<h1>${escaped(path)}</h1>\n<p>The files of this folder:</p>\n<ul class="files">${items.join("\n")}</ul>`,
    title: path,
    headings: [],
  };
}
