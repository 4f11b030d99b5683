// SPDX-License-Identifier: MIT OR Apache-2.0
import { Writable } from "node:stream";
import { SHARE_ENV } from "node:worker_threads";
import { type PoolOptions, pool, run } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { gate, reasonOf, testPool } from "../fixtures/pools.js";
import { taskFolder } from "../fixtures/task-folder.js";

const module = [
  'import { workerData } from "node:worker_threads";',
  'import { expose } from "clearway/worker";',
  "export default expose({",
  "  facts: (name) => ({ env: process.env[name], argv: process.argv.slice(2), execArgv: process.execArgv, workerData, imported: globalThis.imported }),",
  "  set: (name, value) => void (process.env[name] = value),",
  "  print: (text) => void (console.log(text), console.error('error ' + text)),",
  "});",
].join("\n");

interface Facts {
  env: string | undefined;
  argv: string[];
  execArgv: string[];
  workerData: unknown;
  imported: unknown;
}

interface Tasks {
  facts(name: string): Facts;
  set(name: string, value: string): void;
  print(text: string): void;
}

const factsPool = (options: PoolOptions) =>
  testPool<Tasks>(taskFolder({ "facts.tasks.js": module }).url("facts.tasks.js"), options);

/** Sets a variable of the environment until the test ends. */
function setEnv(name: string, value: string): void {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe.each<[kind: string, options: PoolOptions]>([
  ["a thread", {}],
  ["a child process", { processes: true }],
])("a worker that is %s", (_kind, kind) => {
  test("inherits the environment and the command line options of its pool's thread", async () => {
    setEnv("CLEARWAY_TEST_FACT", "inherited");
    const facts = await factsPool(kind).call.facts("CLEARWAY_TEST_FACT");
    // In a thread, Clearway starts a worker with `workerData` of its own.
    const more = kind.processes ? { workerData: null } : {};
    expect(facts).toMatchObject({ env: "inherited", argv: [], execArgv: process.execArgv, ...more });
  });

  test("gets the options that its pool sets", async () => {
    const { url } = taskFolder({ "facts.tasks.js": module, "first.mjs": "globalThis.imported = true;" });
    const execArgv = ["--import", url("first.mjs").href];
    const set = { env: { A: "1" }, argv: ["x", "y z"], execArgv, workerData: { seeds: new Map([[1, 2]]) } };
    const facts = { env: "1", argv: ["x", "y z"], execArgv, workerData: set.workerData, imported: true };
    const options = { ...kind, ...set };
    expect(await testPool<Tasks>(url("facts.tasks.js"), options).call.facts("A")).toEqual(facts);
    expect(await run<Tasks>(url("facts.tasks.js"), options).call.facts("A")).toEqual(facts);
  });

  test("prints to the sinks of its pool, which receive everything before the pool has closed", async () => {
    const seen = { out: "", err: "" };
    const sink = (name: "out" | "err") =>
      new Writable({
        write: (bytes, _encoding, done) => {
          seen[name] += String(bytes);
          done();
        },
      });
    const made = factsPool({ ...kind, stdout: sink("out"), stderr: sink("err") });
    const long = "x".repeat(200_000);
    await made.call.print("one");
    await made.call.print(long);
    await made.close();
    expect([seen.out === `one\n${long}\n`, seen.err === `error one\nerror ${long}\n`]).toEqual([true, true]);
  });

  test("does not start with an option that Node does not know, and the error names the option", async () => {
    const made = factsPool({ ...kind, stderr: { write() {} }, execArgv: ["--no-such-option"] });
    const { code, message } = await reasonOf(made.call.facts("A"));
    expect([code, message]).toEqual(["worker-start-failed", expect.stringContaining("--no-such-option")]);
  });

  test("does not start with workerData that cannot be copied", async () => {
    const { code } = await reasonOf(factsPool({ ...kind, workerData: () => {} }).call.facts("A"));
    expect(code).toBe("worker-start-failed");
  });
});

describe("a thread", () => {
  test.each([[1], ["text"], [null], [[1, 2]]])("gets %j as its workerData", async (workerData) => {
    expect((await factsPool({ workerData }).call.facts("A")).workerData).toEqual(workerData);
  });

  test("shares the environment with SHARE_ENV", async () => {
    setEnv("CLEARWAY_TEST_SHARED", "");
    // Vitest's own `process.env` may be a copy of the environment that the process shares.
    const made = factsPool({ env: SHARE_ENV, size: 2 });
    await made.call.set("CLEARWAY_TEST_SHARED", "by a worker");
    const seen = await made.broadcast.facts("CLEARWAY_TEST_SHARED");
    expect(seen.map(({ env }) => env)).toEqual(["by a worker", "by a worker"]);
  });

  test("goes on when a sink throws, and onError receives the error", async () => {
    const told = gate<unknown>();
    const stdout = {
      write() {
        throw new RangeError("full");
      },
    };
    const made = factsPool({ stdout, stderr: { write() {} }, onError: told.tell });
    await made.call.print("one");
    expect(await told.promise).toMatchObject({ message: "full" });
    expect((await made.call.facts("A")).argv).toEqual([]);
  });

  test("starts when a module of --import prints", async () => {
    let seen = "";
    const { url } = taskFolder({ "facts.tasks.js": module, "prints.mjs": 'console.log("before the tasks");' });
    const made = testPool<Tasks>(url("facts.tasks.js"), {
      execArgv: ["--import", url("prints.mjs").href],
      stdout: { write: (bytes) => (seen += String(bytes)) },
    });
    await made.call.facts("A");
    await made.close();
    expect(seen).toBe("before the tasks\n");
  });

  test("does not start when a module of --import throws", async () => {
    const { url } = taskFolder({ "facts.tasks.js": module, "throws.mjs": 'throw new RangeError("no loader today");' });
    const made = testPool<Tasks>(url("facts.tasks.js"), { execArgv: ["--import", url("throws.mjs").href] });
    expect(await reasonOf(made.call.facts("A"))).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("could not be started: no loader today"),
    });
  });
});

test.each([
  ["execArgv", "--import x", "an array of strings"],
  ["execArgv", [1], "an array of strings"],
  ["argv", {}, "an array of strings"],
  ["env", "A=1", "an object of strings, or SHARE_ENV"],
  ["env", Symbol("other"), "an object of strings, or SHARE_ENV"],
  ["stdout", true, "an object with the method write(), such as a stream"],
  ["stderr", null, "an object with the method write(), such as a stream"],
])("the option %s refuses %s", (name, value, must) => {
  const refusal = expect.objectContaining({
    code: "invalid-argument",
    message: expect.stringContaining(`${name} must be ${must}: ${name}=`),
  });
  const source = new URL("file:///none.js");
  expect(() => pool(source, { [name]: value })).toThrowError(refusal);
  expect(() => run(source, { [name]: value })).toThrowError(refusal);
});
