// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks what holds for every file: no source file is over 400 lines, each names its licence near its top, none names a place of one machine,
// and comments and pages have no phrase that readers stumble over. The build copies the licence texts into the npm packages, and
// scripts/release/crates.mjs into the crates.
import { isProgram, report } from "../problems.mjs";
import { files, generated, source } from "../sources.mjs";

const linesMax = 400;

/** Returns a problem for each of `[{ path, text }]` that is too long: a file holds one concept, which usually takes 80 to 400 lines. */
export function sizes(sources) {
  return sources
    .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > linesMax)
    .map(({ path, lines }) => `${path}: ${lines} lines; split it (at most ${linesMax})`);
}

const line = "SPDX-License-Identifier: MIT OR Apache-2.0";

/** Returns a problem for each of `[{ path, text }]` without the licence line in its first three lines, after a `#!` or a doctype. */
export function licenceProblems(sources) {
  return sources
    .filter(({ text }) => !text.split("\n", 3).some((first) => first.includes(line)))
    .map(({ path }) => `${path}: its first line should be: // ${line}`);
}

// Places of one person's machine or network. The patterns are written in pieces, so that this file does not match them.
const places = [
  { pattern: new RegExp(`(^|[^\\w.])/${"work"}/`), what: "a checkout's absolute path" },
  { pattern: new RegExp(`(^|[^\\w.])/${"root"}/`), what: "a home folder" },
  { pattern: new RegExp(`(^|[^\\w.])/${"home"}/\\w`), what: "a home folder" },
  { pattern: new RegExp(`(^|[^\\w.])/${"Users"}/\\w`), what: "a home folder" },
  { pattern: new RegExp(`"resolved": *"https?${":"}//`), what: "a package registry's host" },
  { pattern: new RegExp(`${"registry"}=|_auth${"Token"}`), what: "a package registry" },
];

const named =
  /\.(ts|tsx|mts|js|mjs|json|jsonl|md|html|css|svg|sh|rs|c|h|swift|toml|lock|yml|yaml|txt|csv)$|(^|\/)(Makefile|\.npmrc|\.gitignore)$|^\.ci\//;

/** Returns a problem for each line of `[{ path, text }]` that names such a place. */
export function machineProblems(sources) {
  return sources.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => {
      const place = places.find(({ pattern }) => pattern.test(line));
      return place ? [`${path}:${index + 1}: names ${place.what}: ${line.trim().slice(0, 100)}`] : [];
    }),
  );
}

/** Phrases with a suggestion: those that were once frequent here, not everything that could be written better. */
const phrases = [
  [/\bwhoever\b/i, "name the actor: the caller, a client, the reader"],
  [/\bnobody\b/i, "name the actor: no worker, no caller, no listener"],
  [/\b(?:is|are|was|were) told\b/i, "is notified, receives, is called with"],
  [/\bstands? in\b(?! for\b)/i, "is in"],
  [/\bof late\b/i, "recently"],
  [/\bin a word\b/i, "leave it out"],
  [/\b(?:only|at most|of) so many\b/i, "n, or at most n"],
  [/\ba look at\b/i, "a sample of, a check of"],
  [/\bwhat is dear\b/i, "what is expensive"],
];

/** Returns the prose of a file: Markdown without its code, or the comments of a program. Every line keeps its number. */
function prose(path, text) {
  if (path.endsWith(".md")) {
    let code = false;
    return text.split("\n").map((line) => {
      const fence = /^\s*(```|~~~)/.test(line);
      if (fence) code = !code;
      return code || fence ? "" : line;
    });
  }
  const hash = /\.sh$|\.toml$|Makefile$|^\.ci\/run$/.test(path);
  let block = false;
  return text.split("\n").map((line) => {
    if (hash) return /^\s*#|\s#\s/.exec(line) ? line.slice(line.indexOf("#")) : "";
    if (block) {
      block = !line.includes("*/");
      return line;
    }
    const start = /^\s*(?:\/\*|<!--)|\s\/\*\*?\s/.exec(line);
    if (start) {
      block = !/\*\/|-->/.test(line);
      return line.slice(start.index);
    }
    const comment = /(?:^|\s)\/\/[/!]?\s(.*)$/.exec(line);
    return comment ? comment[1] : "";
  });
}

/** Returns a problem for each of the phrases in the prose of `[{ path, text }]`. */
export function phraseProblems(sources) {
  const problems = [];
  for (const { path, text } of sources) {
    for (const [index, line] of prose(path, text).entries()) {
      for (const [phrase, instead] of phrases) {
        const hit = phrase.exec(line.replace(/`[^`]*`/g, ""));
        if (hit) problems.push(`${path}:${index + 1}: "${hit[0]}"; ${instead}`);
      }
    }
  }
  return problems;
}

if (isProgram(import.meta)) {
  const written = files(source).filter(({ path }) => !generated.test(path));
  const own = /^scripts\/check\/files\.mjs$|^test\/checks\/files\.test\.ts$/;
  const read = [...written, ...files(/\.md$/)].filter(({ path }) => !own.test(path));
  report(
    [...sizes(written), ...licenceProblems(written), ...machineProblems(files(named)), ...phraseProblems(read)],
    `${written.length} source files are short, say their licence, name no place of one machine, and have no phrase that makes a reader stop`,
  );
}
