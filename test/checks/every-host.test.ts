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

test.each([
  ["imports code that differs between hosts", 'import "../../src/start/x.js";'],
  ["starts a thread", 'import { Worker } from "node:worker_threads";'],
  ["starts a process", 'import { spawn } from "node:child_process";'],
  ["starts a web worker", "new Worker(url);"],
  ["chooses child processes", "pool(url, { processes: true });"],
  ["says why it asks for every host", "// Every host: each version of Node has its own permission model."],
])("a test that %s runs on every version of Node", (_, text) => {
  expect(
    selected({ "a/x.test.ts": text, "a/other.test.ts": 'import "../../src/transfer/move.js";' }).everyNode,
  ).toEqual(["test/a/x.test.ts"]);
});

test.each([
  ["imports the transport", 'import "../../src/transport/port.js";'],
  ["says why it asks for every host", "// Every host: memory moves by ring and by port."],
])("a test that %s also runs by port", (_, text) => {
  expect(selected({ "a/x.test.ts": text, "a/other.test.ts": "new Worker(url);" }).byPort).toEqual(["test/a/x.test.ts"]);
});

test("a suite counts for the tests that import it, and a fixture for none", () => {
  const { everyNode } = selected({
    "a/suite.ts": 'import "node:worker_threads";',
    "a/with-suite.test.ts": 'import { suite } from "./suite.js";',
    "a/with-fixture.test.ts": 'import { plainPool } from "../fixtures/pools.js";',
    "fixtures/pools.ts": 'import "node:worker_threads";',
  });
  expect(everyNode).toEqual(["test/a/with-suite.test.ts"]);
});

test("a pure test runs on no further host, whatever it contains", () => {
  const text = 'import "../../src/host/node.js"; inProcesses;';
  expect(selected({ "a/x.pure.test.ts": text })).toEqual({
    everyNode: [],
    byPort: [],
    inProcesses: [],
    everyEngine: [],
  });
});

test("a test that says why one host is enough runs on no further host", () => {
  const text =
    "// One host: the misdeeds are the caller's.\nimport 'node:worker_threads'; pool(url, { processes: true });";
  expect(selected({ "a/x.test.ts": text })).toEqual({ everyNode: [], byPort: [], inProcesses: [], everyEngine: [] });
});

test.each([
  ["runs in browsers only", "a/x.browser.test.ts", ""],
  ["uses what browser engines do differently", "a/x.test.ts", "new ReadableStream();"],
  ["says why it asks for every host", "a/x.test.ts", "// Every host: pieces cross by ports of their own."],
])("a test that %s runs in every browser engine", (_, path, text) => {
  expect(selected({ [path]: text }).everyEngine).toEqual([`test/${path}`]);
  expect(selected({ "a/x.node.test.ts": text, "a/plain.test.ts": "" }).everyEngine).toEqual([]);
});

test("a test that says why it asks for child processes also runs with them", () => {
  const text = "// Child processes, too: calls cross by pipes.";
  expect(selected({ "a/x.test.ts": text }).inProcesses).toEqual(["test/a/x.test.ts"]);
  expect(selected({ "a/x.test.ts": "// Child processes, too:" }).inProcesses).toEqual([]);
});

test("every folder of the library that differs between hosts has a test that runs on further hosts, or a pure one", () => {
  const { everyNode, byPort } = hostTests();
  const further = [...everyNode, ...byPort];
  const sources: { path: string; text: string }[] = files(/^ts\/clearway\/test\/.*\.test\.ts$/);
  const texts = sources.filter(
    ({ path }) => path.endsWith(".pure.test.ts") || further.includes(path.slice("ts/clearway/".length)),
  );
  for (const folder of differing) {
    expect(
      texts.some(({ text }) => text.includes(`/src/${folder}/`)),
      folder,
    ).toBe(true);
  }
});
