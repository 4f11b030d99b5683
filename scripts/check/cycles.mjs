// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds files that import one another in a cycle. Type imports and dynamic imports count, because a reader follows them too.
import { posix } from "node:path";
import ts from "typescript";
import { isProgram, report } from "../problems.mjs";
import { files } from "../sources.mjs";

/** Folders that the check covers. */
const packages = /^ts\/[\w-]+\/src\//;

/**
 * Known cycles, each with its reason. A cycle may shrink but not grow: remove a file from this list when it leaves its cycle.
 * @type {{ files: string[], why: string }[]}
 */
export const known = [
  {
    why: "a record makes tables and writers, and both give records: one concept in three files",
    files: ["record", "table", "writer"].map((name) => `ts/clearway/src/records/${name}.ts`),
  },
];

/** Returns each cycle of `[{ path, text }]` as the sorted paths of its files. Uses Tarjan's strongly connected components. */
export function findCycles(sources) {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const importsOf = (path) =>
    ts
      .preProcessFile(texts.get(path), true, true)
      .importedFiles.map(({ fileName }) => posix.join(posix.dirname(path), fileName).replace(/\.js$/, ".ts"))
      .filter((to) => texts.has(to));
  const order = new Map();
  const lowest = new Map();
  const stack = [];
  const found = [];
  const visit = (path) => {
    order.set(path, order.size);
    lowest.set(path, order.get(path));
    stack.push(path);
    for (const to of importsOf(path)) {
      if (!order.has(to)) visit(to);
      if (stack.includes(to)) lowest.set(path, Math.min(lowest.get(path), lowest.get(to)));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const cycle = stack.splice(stack.indexOf(path));
    if (cycle.length > 1) found.push(cycle.sort());
  };
  for (const path of texts.keys()) if (!order.has(path)) visit(path);
  return found;
}

/** Returns a problem for each cycle that is not in `allowed`, each file that joined a known cycle, and each listed file without a cycle. */
export function cycleProblems(sources, allowed = known) {
  const problems = [];
  const found = findCycles(sources);
  for (const cycle of found) {
    const best = allowed.find(({ files: listed }) => listed.includes(cycle[0]) || listed.includes(cycle.at(-1)));
    const joined = cycle.filter((path) => !best?.files.includes(path));
    if (best === undefined) problems.push(`${cycle.join(", ")}: these files import one another in a cycle`);
    else for (const path of joined) problems.push(`${path}: has joined the cycle of ${best.files[0]}`);
  }
  const inCycle = new Set(found.flat());
  for (const path of allowed.flatMap(({ files: listed }) => listed)) {
    if (!inCycle.has(path)) problems.push(`${path}: is in no cycle any more; take it off the list in cycles.mjs`);
  }
  return problems;
}

if (isProgram(import.meta)) {
  const sources = files(/\.(ts|mjs)$/).filter(({ path }) => packages.test(path) && !path.endsWith(".d.ts"));
  report(cycleProblems(sources), `${sources.length} files have no cycle but the ${known.length} that are known`);
}
