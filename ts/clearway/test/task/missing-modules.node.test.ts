// SPDX-License-Identifier: MIT OR Apache-2.0
// Simulates a redeployed site or a lost network: the worker has its entry file, but no files that it loads later.
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pool } from "clearway";
import { type Callback, callback } from "clearway/callback";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reasonOf, testPool } from "../fixtures/pools.js";

type Tasks = {
  default: {
    double(value: number): number;
    bytes(): Uint8Array;
    refuse(): never;
    unclonable(): unknown;
    reject(): Promise<never>;
    laterUnclonable(): Promise<unknown>;
    count(): Generator<number>;
    sum(values: AsyncIterable<number>): Promise<number>;
    asks(tell: Callback<() => number>): Promise<number>;
    leased(): number;
    forEver(): Promise<never>;
  };
};

const source = `
  import { expose, resource, task, withResources } from "./worker.js";
  const leased = withResources({ thing: resource({ open: () => 1 }) });
  export default expose({
    double: (value) => value * 2,
    bytes: () => new Uint8Array(4),
    refuse() { throw Object.assign(new RangeError("not today"), { code: "E_DAY" }); },
    unclonable: () => () => 1,
    async reject() { await null; throw new RangeError("tomorrow"); },
    laterUnclonable: async () => () => 1,
    *count() { yield 1; },
    async sum(values) { let sum = 0; for await (const value of values) sum += value; return sum; },
    asks: (tell) => tell(),
    leased: leased(({ thing }) => thing),
    forEver: task(({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))),
  });
`;

const built = (name: string): string => fileURLToPath(new URL(`../../dist/node/${name}`, import.meta.url));
const folders: string[] = [];

// Creates a folder with a task module, the worker's entry and the given lazy modules.
async function tasksBeside(...modules: string[]): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "clearway-modules-"));
  folders.push(folder);
  await copyFile(built("worker.mjs"), join(folder, "worker.js"));
  for (const name of modules) await copyFile(built(name), join(folder, name));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tasks.js"), source);
  return pathToFileURL(join(folder, "tasks.js"));
}

let url: URL;
beforeAll(async () => {
  url = await tasksBeside("lazy-server.js");
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const missing = { code: "missing-package", message: expect.stringContaining("could not be loaded") };

test("calls work by port without the lazy modules, also with results that move", async () => {
  const { call } = testPool<Tasks["default"]>(url);
  for (let at = 0; at < 100; at++) expect(await call.double(at)).toBe(2 * at);
  expect(await call.bytes()).toEqual(new Uint8Array(4));
});

test("a task's error keeps its name and message", async () => {
  const { call } = testPool<Tasks["default"]>(url);
  expect(await reasonOf(call.refuse())).toMatchObject({ name: "RangeError", message: "not today" });
  expect(await reasonOf(call.unclonable())).toMatchObject({ name: "ClearwayError", code: "not-cloneable" });
});

test("streams and tasks with resources fail with the name of the missing module", async () => {
  const { call } = testPool<Tasks["default"]>(url);
  expect(await reasonOf(call.count().next())).toMatchObject(missing);
  const values = (async function* () {
    yield 1;
  })();
  expect(await reasonOf(call.sum(values))).toMatchObject(missing);
  expect(await reasonOf(call.leased())).toMatchObject(missing);
  expect(await reasonOf(call.asks(callback(() => 1)))).toMatchObject(missing);
  expect(await call.double(4)).toBe(8);
});

test("a call with a callback fails with missing-package if only the code of callbacks is missing", async () => {
  const { call } = testPool<Tasks["default"]>(await tasksBeside("lazy-server.js", "lazy-streams.js"));
  expect(await reasonOf(call.asks(callback(() => 1)))).toMatchObject({
    ...missing,
    message: expect.stringMatching(/^the code of callbacks could not be loaded: .*lazy-/),
  });
  expect(await call.double(4)).toBe(8);
});

test("a cancel reaches its task, and the pool closes", async () => {
  const made = pool<Tasks["default"]>(url, { size: 1, concurrency: 2 });
  const leaving = new AbortController();
  const call = made.with({ signal: leaving.signal }).call.forEver();
  expect(await made.call.double(1)).toBe(2);
  leaving.abort(new Error("gone"));
  expect(await reasonOf(call)).toMatchObject({ message: "gone" });
  await made.close();
});

test("without the server module, simple calls work, and the pool closes", async () => {
  const made = pool<Tasks["default"]>(await tasksBeside(), { size: 1 });
  for (let at = 0; at < 100; at++) expect(await made.call.double(at)).toBe(2 * at);
  expect(await made.call.bytes()).toEqual(new Uint8Array(4));
  await made.close();
  expect(made.stats().workers.restarts).toBe(0);
});

test("without the server module, calls that need it fail with its name", async () => {
  const made = testPool<Tasks["default"]>(await tasksBeside());
  expect(await reasonOf(made.call.refuse())).toMatchObject({ name: "RangeError", message: "not today" });
  expect(await reasonOf(made.call.reject())).toMatchObject({ name: "RangeError", message: "tomorrow" });
  expect(await reasonOf(made.call.unclonable())).toMatchObject(missing);
  expect(await reasonOf(made.call.laterUnclonable())).toMatchObject(missing);
  expect(await reasonOf(made.call.count().next())).toMatchObject(missing);
  expect(await reasonOf(made.call.leased())).toMatchObject({
    ...missing,
    cause: { message: expect.stringContaining("lazy-server") },
  });
  expect(await reasonOf(made.with({ signal: new AbortController().signal }).call.double(1))).toMatchObject(missing);
  expect(await made.call.double(4)).toBe(8);
  expect(await made.ping()).toMatchObject({ remoteTimeMs: expect.any(Number) });
  expect(made.stats().workers.restarts).toBe(0);
});
