// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { differing, hostTests } from "../../scripts/every-host.mjs";
import { files } from "../../scripts/sources.mjs";

/** Selects from a package with these files below `test/`. */
function selected(texts: Record<string, string>): ReturnType<typeof hostTests> {
  const folder = mkdtempSync(join(tmpdir(), "clearway-hosts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, "test", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return hostTests(folder);
}

test("a test that imports code that differs between hosts runs on every host", () => {
  const texts = Object.fromEntries(
    differing.map((folder) => [`a/${folder.replace("/", "-")}.test.ts`, `import "../../src/${folder}/x.js";`]),
  );
  expect(selected(texts).everyHost).toHaveLength(differing.length);
  expect(selected({ "a/values.test.ts": 'import "../../src/transfer/move.js";' }).everyHost).toEqual([]);
});

test.each([
  ["starts a thread", 'import { Worker } from "node:worker_threads";'],
  ["starts a process", 'import { spawn } from "node:child_process";'],
  ["starts a web worker", "new Worker(url);"],
  ["chooses the carrier", 'pool(url, { carrier: "port" });'],
  ["chooses child processes", "pool(url, { processes: true });"],
  ["differs in Node", "test.runIf(inNode)();"],
  ["says why it asks for every host", "// Every host: memory moves by ring and by port."],
])("a test that %s runs on every host", (_, text) => {
  expect(selected({ "a/x.test.ts": text }).everyHost).toEqual(["test/a/x.test.ts"]);
});

test("a suite counts for the tests that import it, and a fixture for none", () => {
  const { everyHost } = selected({
    "a/suite.ts": 'import "node:worker_threads";',
    "a/with-suite.test.ts": 'import { suite } from "./suite.js";',
    "a/with-fixture.test.ts": 'import { plainPool } from "../fixtures/pools.js";',
    "fixtures/pools.ts": 'import "node:worker_threads";',
  });
  expect(everyHost).toEqual(["test/a/with-suite.test.ts"]);
});

test("a pure test runs on no further host, whatever it contains", () => {
  const text = 'import "../../src/host/node.js"; inProcesses;';
  expect(selected({ "a/x.pure.test.ts": text })).toEqual({ everyHost: [], byPort: [], inProcesses: [] });
});

test("a test that says why one host is enough runs on no further host", () => {
  const text = "// One host: the misdeeds are the caller's.\nimport 'node:worker_threads'; pool(url, { carrier: 1 });";
  expect(selected({ "a/x.test.ts": text }).everyHost).toEqual([]);
});

test("a test that depends on the carrier also runs by port", () => {
  const carried = 'pool(url, { carrier: "auto" });';
  const started = 'import { Worker } from "node:worker_threads";';
  const { everyHost, byPort } = selected({ "a/carried.test.ts": carried, "a/started.test.ts": started });
  expect([everyHost.length, byPort]).toEqual([2, ["test/a/carried.test.ts"]]);
});

test("a test that says why it asks for child processes also runs with them", () => {
  const text = "// Child processes, too: calls cross by pipes.";
  expect(selected({ "a/x.test.ts": text }).inProcesses).toEqual(["test/a/x.test.ts"]);
  expect(selected({ "a/x.test.ts": "// Child processes, too:" }).inProcesses).toEqual([]);
});

test("every folder of the library that differs between hosts has a test that runs on every host, or a pure one", () => {
  const { everyHost } = hostTests();
  const sources: { path: string; text: string }[] = files(/^ts\/clearway\/test\/.*\.test\.ts$/);
  const texts = sources.filter(
    ({ path }) => path.endsWith(".pure.test.ts") || everyHost.includes(path.slice("ts/clearway/".length)),
  );
  for (const folder of differing) {
    expect(
      texts.some(({ text }) => text.includes(`/src/${folder}/`)),
      folder,
    ).toBe(true);
  }
});
