// SPDX-License-Identifier: MIT OR Apache-2.0
import { Writable } from "node:stream";
import { SHARE_ENV } from "node:worker_threads";
import { type PoolOptions, pool, run } from "clearway";
import { describe, expect, test, vi } from "vitest";
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

type Tasks = {
  default: { facts(name: string): Facts; set(name: string, value: string): void; print(text: string): void };
};

function factsPool(options: PoolOptions, more: Record<string, string> = {}) {
  const { url } = taskFolder({ "facts.tasks.js": module, ...more });
  return testPool<Tasks["default"]>(url("facts.tasks.js"), options);
}

describe("a worker", () => {
  test("inherits the environment and the command line options of its pool's thread", async () => {
    vi.stubEnv("CLEARWAY_TEST_FACT", "inherited");
    try {
      const facts = await factsPool({}).call.facts("CLEARWAY_TEST_FACT");
      expect(facts).toMatchObject({ env: "inherited", argv: [], execArgv: process.execArgv });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("gets the options that its pool sets", async () => {
    const more = { "first.mjs": "globalThis.imported = true;" };
    const { url } = taskFolder({ "facts.tasks.js": module, ...more });
    const execArgv = ["--import", url("first.mjs").href];
    const options = { env: { A: "1" }, argv: ["x", "y z"], execArgv, workerData: { seeds: new Map([[1, 2]]) } };
    const made = testPool<Tasks["default"]>(url("facts.tasks.js"), options);
    const facts = { env: "1", argv: ["x", "y z"], execArgv, workerData: options.workerData, imported: true };
    expect(await made.call.facts("A")).toEqual(facts);
    expect(await run<Tasks["default"]>(url("facts.tasks.js"), options).call.facts("A")).toEqual(facts);
  });

  test.each([[1], ["text"], [null], [[1, 2]]])("gets %j as its workerData", async (workerData) => {
    expect((await factsPool({ workerData }).call.facts("A")).workerData).toEqual(workerData);
  });

  test("shares the environment with SHARE_ENV", async () => {
    vi.stubEnv("CLEARWAY_TEST_SHARED", "");
    try {
      // Vitest's own `process.env` may be a copy of the environment that the process shares.
      const made = factsPool({ env: SHARE_ENV, size: 2 });
      await made.call.set("CLEARWAY_TEST_SHARED", "by a worker");
      const seen = await made.broadcast.facts("CLEARWAY_TEST_SHARED");
      expect(seen.map(({ env }) => env)).toEqual(["by a worker", "by a worker"]);
    } finally {
      vi.unstubAllEnvs();
    }
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
    const made = factsPool({ stdout: sink("out"), stderr: sink("err") });
    await made.call.print("one");
    await made.call.print("two");
    await made.close();
    expect(seen).toEqual({ out: "one\ntwo\n", err: "error one\nerror two\n" });
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
    const made = testPool<Tasks["default"]>(url("facts.tasks.js"), {
      execArgv: ["--import", url("prints.mjs").href],
      stdout: { write: (bytes) => (seen += String(bytes)) },
    });
    await made.call.facts("A");
    await made.close();
    expect(seen).toBe("before the tasks\n");
  });
});

describe("calls fail with worker-start-failed", () => {
  test("for an option that Node does not know, which the message names", async () => {
    const { code, message } = await reasonOf(factsPool({ execArgv: ["--no-such-option"] }).call.facts("A"));
    expect([code, message]).toEqual(["worker-start-failed", expect.stringContaining("--no-such-option")]);
  });

  test("for a module of --import that throws", async () => {
    const { url } = taskFolder({ "facts.tasks.js": module, "throws.mjs": 'throw new RangeError("no loader today");' });
    const made = testPool<Tasks["default"]>(url("facts.tasks.js"), { execArgv: ["--import", url("throws.mjs").href] });
    expect(await reasonOf(made.call.facts("A"))).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("could not be started: no loader today"),
    });
  });

  test("for workerData that cannot be copied", async () => {
    const { code } = await reasonOf(factsPool({ workerData: () => {} }).call.facts("A"));
    expect(code).toBe("worker-start-failed");
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
