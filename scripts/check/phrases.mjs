// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds phrases that readers stumble over, and suggests plain words. Checks comments and Markdown, but not strings and names. The list is
// short on purpose: it has the phrases that were once frequent here, not everything that could be written better.
import { isProgram, report } from "../problems.mjs";
import { files, source } from "../sources.mjs";

/** The phrases, each with a suggestion. */
export const phrases = [
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
export function prose(path, text) {
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
export function found(sources) {
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
  const own = /^ts\/[\w-]+\/api\/|^scripts\/check\/phrases\.mjs$|^test\/checks\/phrases\.test\.ts$/;
  const sources = [...files(source), ...files(/\.md$/)].filter(({ path }) => !own.test(path));
  report(found(sources), `${sources.length} files without a phrase that makes a reader stop`);
}
