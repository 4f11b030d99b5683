// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { pool, run } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { taskFolder } from "../fixtures/task-folder.js";
import { behaviours, type Peers, peerPool } from "./behaviours.js";

const refused: Record<string, object> = {
  "a minimum of workers that is negative": { size: { min: -1 } },
  "a minimum of workers that is no whole number": { size: { min: 0.5 } },
  "a maximum of workers of 0": { size: { max: 0 } },
  "a maximum of workers that is a text": { size: { max: "4" } },
  "a minimum above the maximum": { size: { min: 3, max: 2 } },
  "a concurrency of 0": { concurrency: 0 },
  "a concurrency that is negative": { concurrency: -1 },
  "an idle time that is negative": { size: { idleMs: -1 } },
  "an idle time that is a text": { size: { idleMs: "soon" } },
  "a queue limit that is negative": { queue: { items: -1 } },
  "a queue limit that is a text": { queue: { items: "many" } },
  "a name that is a number": { name: 0 },
  "resource limits that are a number": { resourceLimits: 0 },
  "command line options that are a text": { execArgv: "--expose-gc" },
  "arguments that are no texts": { argv: [1] },
  "an environment that is a text": { env: "A=1" },
  "metrics that are a text": { metrics: "yes" },
  "an option that it does not know": { maxThreads: 4 },
};

describe("a pool refuses", () => {
  test.each(Object.entries(refused))("%s", (_, options) => {
    expect(() => pool(builtUrl("peers"), options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });

  test.each([null, 5, {}, [], true])("%j as its module", (source) => {
    expect(() => pool(source as never)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });
});

behaviours("a pool takes its module", {
  "as a URL": async () => expect(await peerPool().call.add(1, 2)).toBe(3),
  "as the text of a URL": async () => expect(await testPool<Peers>(builtUrl("peers").href).call.add(1, 2)).toBe(3),
  "as an absolute path": async () =>
    expect(await testPool<Peers>(fileURLToPath(builtUrl("peers"))).call.add(1, 2)).toBe(3),
  "of CommonJS": async () => {
    const text = "exports.default = require('clearway/worker').expose({ twice: (value) => value * 2 });";
    const made = testPool<{ default: { twice(value: number): number } }>(
      taskFolder({ "twice.tasks.cjs": text }).url("twice.tasks.cjs"),
    );
    expect(await made.call.twice(4)).toBe(8);
  },
  "that loads asynchronously": async () => {
    const text = [
      'import { expose } from "clearway/worker";',
      "const factor = await new Promise((resolve) => setTimeout(resolve, 1, 3));",
      "export default expose({ times: (value) => value * factor });",
    ].join("\n");
    const made = testPool<{ default: { times(value: number): number } }>(
      taskFolder({ "slow.tasks.mjs": text }).url("slow.tasks.mjs"),
    );
    expect(await made.call.times(4)).toBe(12);
  },
  "for a single call": async () => expect(await run<Peers>(builtUrl("peers")).call.add(2, 2)).toBe(4),
});

behaviours("a module that cannot be used fails the calls:", {
  "a file that does not exist, by its name": async () => {
    const url = new URL("./no-such.tasks.js", import.meta.url);
    expect(await reasonOf(testPool<Peers>(url).call.who())).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("no-such.tasks.js"),
    });
  },
  "a module that throws, with its error": async () => {
    const { url } = taskFolder({ "broken.tasks.mjs": "throw new RangeError('not today');" });
    const reason = await reasonOf(testPool<Peers>(url("broken.tasks.mjs")).call.who());
    expect(reason).toMatchObject({ code: "worker-start-failed", message: expect.stringContaining("not today") });
  },
  "a module that exposes nothing": async () => {
    const { url } = taskFolder({ "empty.tasks.mjs": "export default 1;" });
    const reason = await reasonOf(testPool<Peers>(url("empty.tasks.mjs")).call.who());
    expect(reason).toMatchObject({ code: "worker-start-failed", message: expect.stringContaining("expose()") });
  },
});

const facts = [
  'import { workerData, isMainThread, threadId } from "node:worker_threads";',
  'import { expose } from "clearway/worker";',
  "export default expose({",
  "  facts: () => ({ env: { ...process.env }, argv: process.argv.slice(2), execArgv: process.execArgv, workerData }),",
  "  thread: () => [isMainThread, threadId],",
  "  variable: (name) => process.env[name],",
  "  gc: () => typeof globalThis.gc,",
  "});",
].join("\n");
interface Facts {
  default: {
    facts(): { env: object; argv: string[]; execArgv: string[]; workerData: unknown };
    thread(): [boolean, number];
    variable(name: string): string | undefined;
    gc(): string;
  };
}
const factsPool = (options: object) =>
  testPool<Facts>(taskFolder({ "facts.tasks.mjs": facts }).url("facts.tasks.mjs"), options);

behaviours("a worker receives", {
  "the pool's environment instead of the process's": async () =>
    expect((await factsPool({ env: { COLOR: "red" } }).call.facts()).env).toEqual({ COLOR: "red" }),
  "a copy of the process's environment by default": async () => {
    process.env["CLEARWAY_PEERS"] = "here";
    try {
      expect(await factsPool({}).call.variable("CLEARWAY_PEERS")).toBe("here");
    } finally {
      delete process.env["CLEARWAY_PEERS"];
    }
  },
  "the pool's arguments": async () =>
    expect((await factsPool({ argv: ["a", "b c"] }).call.facts()).argv).toEqual(["a", "b c"]),
  "the pool's command line options": async () => {
    const made = factsPool({ execArgv: ["--no-warnings"] });
    expect((await made.call.facts()).execArgv).toEqual(["--no-warnings"]);
  },
  "an empty command line, if the pool asks for that": async () =>
    expect((await factsPool({ execArgv: [] }).call.facts()).execArgv).toEqual([]),
  "the pool's workerData, by structured clone": async () => {
    const workerData = { list: [1, 2], map: new Map([["a", new Date(5)]]), bytes: new Uint8Array([1, 2, 3]) };
    expect((await factsPool({ workerData }).call.facts()).workerData).toEqual(workerData);
  },
  "a thread that is not the main thread": async () => {
    const [main, id] = await factsPool({}).call.thread();
    expect([main, id > 0]).toEqual([false, true]);
  },
});

test("workerData that cannot be cloned fails the calls", async () => {
  const reason = await reasonOf(factsPool({ workerData: { fn: () => 1 } }).call.gc());
  expect(reason).toMatchObject({ code: "worker-start-failed" });
});

behaviours("the options of a pool", {
  "are read once: a later change has no effect": async () => {
    const options = { size: 2, name: "first" };
    const made = peerPool(options);
    options.size = 5;
    await made.ready();
    expect(made.stats().workers.size).toBe(2);
  },
  "are those of one pool: a second pool has its own workers": async () => {
    const [one, two] = [peerPool(), peerPool()];
    expect(await one.call.who()).not.toBe(await two.call.who());
  },
  "may be left out": async () => {
    const made = pool<Peers>(builtUrl("peers"));
    try {
      expect(await made.call.add(1, 1)).toBe(2);
    } finally {
      await made.close();
    }
  },
});
