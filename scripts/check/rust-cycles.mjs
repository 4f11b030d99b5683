// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds modules of a Rust crate that use one another in a cycle. Every path that begins with `crate::`, `super::` or `self::` counts, and
// so does every re-export from a child module. The root of a crate is left out, because it re-exports the crate's modules.
import { isProgram, report } from "../problems.mjs";
import { files } from "../sources.mjs";
import { findCycles } from "./cycles.mjs";

const folder = /^(native\/.+\/src)\/(.+)\.rs$/;

/** Expands a path with braces: `a::{b, c::{d, e}}` becomes `a::b`, `a::c::d` and `a::c::e`. */
export function paths(tree) {
  const open = tree.indexOf("{");
  if (open < 0) return [tree.trim()];
  const parts = [];
  let depth = 0;
  let start = open + 1;
  for (let at = start; at < tree.length; at++) {
    if (tree[at] === "{") depth++;
    if (depth === 0 && (tree[at] === "," || tree[at] === "}")) {
      parts.push(tree.slice(start, at));
      start = at + 1;
    }
    if (tree[at] === "}" && depth-- === 0) break;
  }
  const front = tree.slice(0, open).trim();
  return parts.filter((part) => part.trim()).flatMap((part) => paths(front + part.trim()));
}

/** Returns a file's text without comments and tests. */
function code(text) {
  const tests = text.search(/^#\[cfg\((all\()?test/m);
  return (tests < 0 ? text : text.slice(0, tests)).replace(/\/\/.*$/gm, "");
}

/** Returns the modules, by names such as `memory::block`, that the text of the module `name` uses. Only names in `modules` count. */
export function uses(name, text, modules) {
  const parent = name.split("::").slice(0, -1);
  const roots = { crate: [], super: parent, self: name.split("::") };
  const found = new Set();
  const add = (segments) => {
    for (let end = segments.length; end > 0; end--) {
      const module = segments.slice(0, end).join("::");
      if (modules.has(module)) return module === name || found.add(module);
    }
  };
  const plain = code(text);
  const segments = (path) => path.split("::").map((segment) => segment.trim().split(/\s/)[0]);
  for (const [path] of plain.matchAll(/\b(crate|super|self)::(\w+|::|\s*\{(?:[^{};]|\{[^{}]*\})*\})+/g)) {
    for (const each of paths(path)) {
      const [root, ...rest] = segments(each);
      add([...roots[root], ...rest]);
    }
  }
  for (const [, tree] of plain.matchAll(/\buse\s+((?!crate\b|super\b|self\b)[^;]+);/g)) {
    for (const each of paths(tree)) add([...name.split("::"), ...segments(each)]);
  }
  return [...found];
}

/** Returns the cycles among the modules of `[{ path, text }]`, crate by crate. */
export function rustCycleProblems(sources) {
  const crates = new Map();
  for (const { path, text } of sources) {
    const [, crate, file] = path.match(folder) ?? [];
    if (!crate || file === "lib" || file === "main") continue;
    const name = file.replace(/\/mod$/, "").replaceAll("/", "::");
    crates.set(crate, new Map([...(crates.get(crate) ?? []), [name, { path, text }]]));
  }
  return [...crates.values()].flatMap((modules) => {
    const names = new Set(modules.keys());
    // Writes each module as a TypeScript file that imports the modules that it uses, so that `findCycles` can find the cycles.
    const number = new Map([...names].map((name, at) => [name, `${at}`]));
    const graph = [...modules].map(([name, { text }]) => ({
      path: `${number.get(name)}.ts`,
      text: uses(name, text, names)
        .map((used) => `import "./${number.get(used)}.js";`)
        .join("\n"),
    }));
    const all = [...modules.values()];
    const found = findCycles(graph).map((cycle) => cycle.map((path) => all[Number.parseInt(path, 10)].path).sort());
    return found.map((cycle) => `${cycle.join(", ")}: these modules use one another in a cycle`);
  });
}

if (isProgram(import.meta)) {
  const sources = files(/\.rs$/).filter(({ path }) => folder.test(path));
  report(rustCycleProblems(sources), `${sources.length} Rust files have no cycle`);
}
