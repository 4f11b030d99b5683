// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks every import against import-rules.mjs and lab-import-rules.mjs. Also checks the table in ARCHITECTURE.md; `--write` updates it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";
import { isProgram, report } from "../problems.mjs";
import { files, root } from "../sources.mjs";
import { aliases, builtins, everywhere, folders, parts, peers } from "./import-rules.mjs";
import { isTypeImport, labImportProblem, labRulesTable, ruleRow } from "./lab-import-rules.mjs";

const library = "ts/clearway/src/";
const packageName = (specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** Returns the folder, subfolder or file with the rule for a path of the library. Without a rule, returns the first part of the path. */
function place(path) {
  const segments = path.slice(library.length).replace(/\/$/, "").replace(/\.js$/, ".ts").split("/");
  const names = segments.map((_, at) => segments.slice(0, at + 1).join("/"));
  return names.findLast((name) => folders[name]) ?? names[0];
}

function target(path, specifier) {
  if (aliases[specifier]) return `${library}${aliases[specifier]}/`;
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

function insideLibrary(path, text, specifier, pos, to) {
  const from = place(path);
  if (specifier.startsWith("node:")) {
    return builtins.includes(from) ? undefined : `only ${builtins.join(" and ")} may import node:*`;
  }
  if (peers[specifier]?.includes(from)) return undefined;
  if (!to) return "the library has no runtime dependency";
  if (!to.startsWith(library)) return "the library imports nothing outside its src";
  const other = place(to);
  const { may, types } = folders[from];
  if (other === from || other === everywhere || may.includes(other)) return undefined;
  if (types?.includes(other))
    return isTypeImport(text, pos) ? undefined : `${from} may import only types from ${other}`;
  return `${from} may import ${may.join(", ") || "nothing"}`;
}

function acrossParts(path, specifier, to) {
  const { part, mayNot, uses, why } = parts.find((rule) => path.startsWith(rule.part));
  if (uses !== undefined && to?.startsWith(uses)) return undefined;
  const name = to ? undefined : packageName(specifier);
  if (name && mayNot.includes(name)) return why;
  if (to?.startsWith("ts/clearway-lab/") && part !== "ts/clearway-lab/") return why;
  if (to?.startsWith(library) && part !== "ts/clearway/") return `${part || path} uses the library's public entries`;
  return undefined;
}

/** Returns the problems in `sources` (`[{ path, text }]`), one sentence each. */
export function importProblems(sources) {
  const problems = [];
  for (const { path, text } of sources) {
    const own = path.startsWith(library);
    if (own && !folders[place(path)]) {
      problems.push(`${path}: import-rules.mjs has no rule for ${place(path)}; add one that says what it may import`);
      continue;
    }
    for (const { fileName: specifier, pos } of ts.preProcessFile(text, true, true).importedFiles) {
      const to = target(path, specifier);
      const across = () => acrossParts(path, specifier, to) ?? labImportProblem(path, text, specifier, pos);
      const why = own ? insideLibrary(path, text, specifier, pos, to) : across();
      if (why) problems.push(`${path}:${text.slice(0, pos).split("\n").length}: imports "${specifier}": ${why}`);
    }
  }
  return problems;
}

const begin = "<!-- import rules: written by `make fmt` from scripts/check/import-rules.mjs -->";
const end = "<!-- end of import rules -->";

/** Returns the rules in the form in which ARCHITECTURE.md prints them. */
export function rulesTable() {
  const rows = Object.entries(folders).map(([name, rule]) => ruleRow(name, rule));
  return [
    begin,
    "| in `ts/clearway/src` | may import | what it is |",
    "|---|---|---|",
    ...rows,
    "",
    ...labRulesTable(),
    end,
  ].join("\n");
}

/** Returns `page` with its table replaced, or undefined if the markers are missing. */
export function withRules(page) {
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start < 0 || stop < start) return undefined;
  return page.slice(0, start) + rulesTable() + page.slice(stop + end.length);
}

if (isProgram(import.meta)) {
  const sources = files(/\.(ts|tsx|mts|js|mjs)$/).filter(({ path }) => !path.endsWith(".d.ts"));
  const problems = importProblems(sources);
  const path = join(root, "ARCHITECTURE.md");
  const page = existsSync(path) ? readFileSync(path, "utf8") : "";
  const right = withRules(page);
  if (right === undefined) problems.push("ARCHITECTURE.md: the markers of the import rules are missing");
  else if (right !== page && process.argv.includes("--write")) writeFileSync(path, right);
  else if (right !== page) problems.push("ARCHITECTURE.md: prints other import rules than import-rules.mjs: make fmt");
  report(problems, `${sources.length} files keep the import rules`);
}
