// SPDX-License-Identifier: MIT OR Apache-2.0
// Selects the tests of the library that `make test` runs on further hosts: Node 24, Node by port, child processes, Chromium without
// isolation, Firefox, WebKit. The other tests run once on the machine's own Node and once in Chromium with isolation; `make deep` runs all tests on every host.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./sources.mjs";

/** The folders of `ts/clearway/src` whose code differs between hosts or between carriers. */
export const differing = ["host", "start", "transport", "meter/host"];

/** What a test contains that may do otherwise in another version of Node. */
const versions = [
  new RegExp(`"(?:\\.\\./)+src/(?:${differing.filter((name) => name !== "transport").join("|")})/`),
  /"node:(?:worker_threads|child_process)"/,
  /\bnew Worker\(/,
  /\bprocesses: /,
];
/** What a test contains that depends on what carries the frames. A test that chooses the carrier itself needs no further host. */
const carriers = [/"(?:\.\.\/)+src\/transport\//];

/** What a test that also runs in Node contains if it touches what differs between browser engines: ports, web streams, stacks, isolation. */
const engines = [
  /"(?:\.\.\/)+src\/(?:browser|host)\//,
  /"#host"/,
  /\bReadableStream\b/,
  /\.stack\b/,
  /\b(?:asyncDispose|crossOriginIsolated)\b/,
];

/** Comments with which a test asks for every host, or for child processes, with its reason. */
const asks = /^\/\/ Every host: \S/m;
const asksForProcesses = /^\/\/ Child processes, too: \S/m;
/** A comment with which a test that contains something of these says why it still depends on no host. */
const refuses = /^\/\/ One host: \S/m;
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
 * Returns paths of tests below `test/` of a package's folder: `everyNode`, the tests to run on every version of Node; `byPort`, those to run
 * without shared memory; `inProcesses`, those to run with child processes; `everyEngine`, those to run in every browser. Pure tests depend on
 * no host and are in none.
 */
export function hostTests(folder = join(root, "ts/clearway")) {
  const tests = readdirSync(join(folder, "test"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith(".test.ts"))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((path) => !isPure(path))
    .sort();
  const texts = new Map(tests.map((path) => [path, textOf(path, folder)]));
  const having = (patterns) => tests.filter((path) => patterns.some((each) => each.test(texts.get(path))));
  const refuse = having([refuses]);
  const engineTests = new Set(having([...engines, asks]));
  const selected = (patterns) => having(patterns).filter((path) => !refuse.includes(path));
  return {
    everyNode: selected([...versions, asks]).filter((path) => !path.endsWith(".browser.test.ts")),
    byPort: selected([...carriers, asks, asksForProcesses]),
    inProcesses: having([asksForProcesses]),
    everyEngine: tests.filter(
      (path) => path.endsWith(".browser.test.ts") || (!path.endsWith(".node.test.ts") && engineTests.has(path)),
    ),
  };
}
