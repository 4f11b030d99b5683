// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns a page of the repository into HTML. Links lead to pages of the site, and code is highlighted when the site is built.
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { createHighlighter } from "shiki";

/** The languages of the code on the pages. Other code is shown as plain text. */
const languages = {
  ts: "typescript",
  mts: "typescript",
  js: "javascript",
  mjs: "javascript",
  jsx: "jsx",
  tsx: "tsx",
  json: "json",
  html: "html",
  css: "css",
  sh: "shellscript",
  java: "java",
  kt: "kotlin",
  kotlin: "kotlin",
  rs: "rust",
  rust: "rust",
  c: "c",
  h: "c",
  toml: "toml",
  yaml: "yaml",
  yml: "yaml",
  xml: "xml",
  swift: "swift",
  diff: "diff",
};

const themes = { light: "github-light-high-contrast", dark: "github-dark-high-contrast" };

const highlighter = await createHighlighter({
  themes: Object.values(themes),
  langs: [...new Set(Object.values(languages))],
});

/** Returns code as HTML, with the colours of both themes as CSS variables. */
export function codeHtml(code, extension) {
  const lang = languages[extension] ?? "text";
  return highlighter.codeToHtml(code.replace(/\n$/, ""), { lang, themes, defaultColor: false });
}

/**
 * Renders Markdown. `link(href)` returns the address for each link and image. Returns the HTML, the title and the headings of levels 2 and
 * 3.
 */
export function render(text, link) {
  const slugger = new GithubSlugger();
  const headings = [];
  const md = new MarkdownIt({ html: true, linkify: false, highlight: (code, lang) => codeHtml(code, lang) });
  md.use(anchor, {
    slugify: (title) => slugger.slug(title),
    permalink: anchor.permalink.headerLink({ safariReaderFix: true }),
    getTokensText: (tokens) => tokens.map(({ content }) => content).join(""),
    callback: (token, { slug, title }) => headings.push({ level: Number(token.tag.slice(1)), id: slug, title }),
  });
  const rewrite = (name) => {
    const previous =
      md.renderer.rules[name] ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options));
    md.renderer.rules[name] = (tokens, at, ...rest) => {
      const attribute = name === "image" ? "src" : "href";
      const given = tokens[at].attrGet(attribute);
      if (given !== null) tokens[at].attrSet(attribute, link(given));
      return previous(tokens, at, ...rest);
    };
  };
  rewrite("link_open");
  rewrite("image");
  // Wide tables scroll in a frame of their own, so that the page does not.
  md.renderer.rules.table_open = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
  // A corner without a text is no header.
  const corner = (tokens, at) => tokens[at].content === "";
  md.renderer.rules.th_open = (tokens, at, options, _, self) => {
    if (corner(tokens, at + 1)) return "<td>";
    tokens[at].attrSet("scope", "col");
    return self.renderToken(tokens, at, options);
  };
  md.renderer.rules.th_close = (tokens, at) => (corner(tokens, at - 1) ? "</td>" : "</th>");
  const body = md.render(text.replace(/<!--[\s\S]*?-->\n?/g, ""));
  const title = headings.find(({ level }) => level === 1)?.title ?? "";
  return {
    html: body,
    title,
    headings: headings.filter(({ level }) => level > 1 && level < 4),
  };
}
