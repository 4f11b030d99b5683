// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects the tests of the library that `make test` runs on every host: Node 24, Node by port, child processes, Chromium without isolation.
// The other tests run once on the machine's own Node and once in Chromium with isolation; `make deep` runs all tests on every host.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./sources.mjs";

/** The folders of `ts/clearway/src` whose code differs between hosts or between carriers. */
export const differing = ["host", "start", "transport", "meter/host"];

/** What a test contains that touches such code. */
const touches = [
  new RegExp(`"(?:\\.\\./)+src/(?:${differing.join("|")})/`),
  /"node:(?:worker_threads|child_process)"/,
  /\bnew Worker\(/,
  /\b(?:carrier|processes): /,
  /\bin(?:Node|Processes)\b/,
];

/** Comments with which a test asks for every host, or for child processes, with its reason. */
const asks = /^\/\/ Every host: \S/m;
const asksForProcesses = /^\/\/ Child processes, too: \S/m;
/** A comment with which a test that contains something of `touches` says why it still depends on no host. */
const refuses = /^\/\/ One host: \S/m;
/** What a test contains that depends on what carries the frames: a port, or shared memory. */
const carries = [/"(?:\.\.\/)+src\/transport\//, /\bcarrier: /, /\bSharedArrayBuffer\b/, asks, asksForProcesses];

const isPure = (path) => path.endsWith(".pure.test.ts");

/** Returns the file's text with the texts of the suites that it imports. `test/fixtures` is left out, because every test uses it. */
function textOf(path, folder, seen = new Set()) {
  if (seen.has(path)) return "";
  seen.add(path);
  const text = readFileSync(join(folder, path), "utf8");
  const imported = [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map(([, name]) => `${join(dirname(path), name)}.ts`);
  const suites = imported.filter(
    (name) => name.startsWith("test/") && !name.startsWith("test/fixtures/") && existsSync(join(folder, name)),
  );
  return [text, ...suites.map((suite) => textOf(suite, folder, seen))].join("\n");
}

/**
 * Returns paths of tests below `test/` of a package's folder: `everyHost`, the tests to run on every host; `byPort`, those of them to run
 * without shared memory in Node; `inProcesses`, the tests to run with child processes. Pure tests depend on no host and are in none.
 */
export function hostTests(folder = join(root, "ts/clearway")) {
  const tests = readdirSync(join(folder, "test"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith(".test.ts"))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((path) => !isPure(path))
    .sort();
  const texts = new Map(tests.map((path) => [path, textOf(path, folder)]));
  const having = (paths, patterns) => paths.filter((path) => patterns.some((each) => each.test(texts.get(path))));
  const everyHost = having(tests, [...touches, asks, asksForProcesses]).filter(
    (path) => !refuses.test(texts.get(path)),
  );
  return { everyHost, byPort: having(everyHost, carries), inProcesses: having(tests, [asksForProcesses]) };
}
