// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that code in Markdown is the same as in files that the tests run. The line above a code fence has a marker:
//
//   <!-- snippet: examples/quick-start/main.ts#name -->
//
// The fence contains the lines between `// #region name` and `// #endregion name`. Without `#name`, it contains the whole file. By default
// the script only checks; `--write` updates the fences.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { isProgram, report } from "./problems.mjs";
import { files, root } from "./sources.mjs";

const marker = /^<!-- snippet: ([^\s#]+)(?:#([\w-]+))? -->$/;
const languages = {
  ".ts": "ts",
  ".java": "java",
  ".kt": "kotlin",
  ".js": "js",
  ".mjs": "js",
  ".html": "html",
  ".json": "json",
  ".sh": "sh",
  ".rs": "rust",
  ".xml": "xml",
  ".c": "c",
};

function dedent(lines) {
  const filled = lines.filter((line) => line.trim() !== "");
  const indent = Math.min(...filled.map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent));
}

/** Returns the lines that a marker names. If there are none, throws an Error with the reason. */
export function excerpt(text, name) {
  const lines = text.split("\n");
  const inner = (line) => !/#(end)?region\b/.test(line);
  if (name === undefined) {
    const body = lines.filter((line) => inner(line) && !line.includes("SPDX-License-Identifier"));
    return body.join("\n").trim().split("\n");
  }
  const at = (word) => lines.findIndex((line) => new RegExp(`#${word} ${name}\\s*(-->|\\*/)?$`).test(line));
  const [start, stop] = [at("region"), at("endregion")];
  if (start < 0 || stop < start) throw new Error(`has no lines between "#region ${name}" and "#endregion ${name}"`);
  const body = lines.slice(start + 1, stop).filter(inner);
  if (body.every((line) => line.trim() === "")) throw new Error(`region ${name} is empty`);
  return dedent(body);
}

/** Returns `{ page, problems, count }`. `page` is `text` with every fence updated. `read` returns a file's text, or undefined. */
export function splice(text, read) {
  const lines = text.split("\n");
  const out = [];
  const problems = [];
  let count = 0;
  for (let i = 0; i < lines.length; i++) {
    out.push(lines[i]);
    const found = marker.exec(lines[i]);
    if (!found) {
      if (/^\s*<!--\s*snippet\b/.test(lines[i]))
        problems.push(`line ${i + 1}: not a marker: <!-- snippet: PATH#NAME -->`);
      continue;
    }
    count++;
    const [, path, name] = found;
    const fence = /^(`{3,})/.exec(lines[i + 1] ?? "")?.[1];
    const close = fence ? lines.indexOf(fence, i + 2) : i;
    if (close < 0) {
      problems.push(`line ${i + 2}: the fence never closes`);
      continue;
    }
    try {
      const source = read(path);
      if (source === undefined) throw new Error("no such file");
      out.push(`\`\`\`${languages[extname(path)] ?? ""}`, ...excerpt(source, name), "```");
    } catch (error) {
      problems.push(`line ${i + 1}: ${path}: ${error.message}`);
      out.push(...lines.slice(i + 1, close + 1));
    }
    i = close;
  }
  return { page: out.join("\n"), problems, count };
}

if (isProgram(import.meta)) {
  const read = (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  const found = [];
  let total = 0;
  for (const { path, text } of files(/\.md$/)) {
    const { page, problems, count } = splice(text, read);
    total += count;
    found.push(...problems.map((problem) => `${path}: ${problem}`));
    if (page === text) continue;
    if (process.argv.includes("--write")) writeFileSync(join(root, path), page);
    else found.push(`${path}: a snippet is not what its file says: make fmt`);
  }
  report(found, `${total} snippets are as their files say`);
}
