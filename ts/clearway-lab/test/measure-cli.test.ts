// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway measure` as a user does. Asserts on structure and messages, not on times.
import { beforeAll, describe, expect, test } from "vitest";
import { UserFolder } from "./user-folder.js";

const user = new UserFolder();

describe("clearway measure", () => {
  const measure = (...args: string[]) => user.run("measure", ...args);

  beforeAll(() => {
    user.write(
      "functions.ts",
      `import { isMainThread } from "node:worker_threads";
export const add = (a: number, b: number) => a + b;
export const wait = async () => new Promise<number>((done) => setTimeout(done, 5, 1));
export const block = () => { const end = performance.now() + 60; while (performance.now() < end); return 1; };
export const fails = () => { throw new RangeError("too far"); };
export const loop = () => { for (;;); };
export const notCloneable = () => () => 1;
export const mainOnly = () => { if (!isMainThread) throw new Error("not here"); return 1; };
export const hangsThere = () => (isMainThread ? 1 : new Promise(() => {}));
export const thread = () => isMainThread;
export const size = 3;
export default (x: number) => x;`,
    );
    user.write(
      "things.ts",
      `import { expose, task } from "clearway/worker";
export default expose({ twice: (x: number) => 2 * x, first: task((_, list: number[]) => list[0]) });`,
    );
    user.write("list.json", "[1, 2, 3]");
  });

  test("prints the figures of both ways and the verdict", async () => {
    const { code, stdout, stderr } = await measure("functions.ts#add", "--args", "-1", "2");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^add\(-1, 2\): the median of 5 calls each way, after one to warm up\n\n +directly +in a worker\n/,
    );
    for (const row of ["total", "longest stall", "dropped at 60 Hz", "dropped at 120 Hz", "hitch ratio at 60 Hz"])
      expect(stdout).toMatch(new RegExp(`\\n${row} +\\S+.* +\\S+`));
    expect(stdout).toMatch(/\nVerdict: leave it: \S+ ms, and no frame dropped at 60 or 120 Hz\.\n$/);
  });

  test("exits with status 1 if a function blocks for longer than its budget", async () => {
    const over = await measure("functions.ts#block", "--budget", "20ms", "--json");
    expect(over.code).toBe(1);
    const report = JSON.parse(over.stdout);
    expect(report).toMatchObject({ version: 1, function: "block", args: [], calls: 5, over: true, budgetMs: 20 });
    expect(report.direct.dropped60).toBeGreaterThanOrEqual(3);
    const within = await measure("functions.ts#block", "--budget", "60s");
    expect(within.code).toBe(0);
    expect(within.stdout).toMatch(/\nBudget: within it: \S+ ms of 60000 ms on the main thread\.\n$/);
  });

  test("reports what was measured until the limit, and which part took the time", async () => {
    const { code, stdout, stderr } = await measure("functions.ts#hangsThere", "--timeout", "8s");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toMatch(
      /^hangsThere\(\): the median of 5 calls directly Stopped in the calls in a worker: --timeout sets the limit, 8 s\. Time: the calls in a worker \d+ ms, /,
    );
    expect(text).toContain("in a worker: no call in a worker ended within the limit Verdict: ");
  });

  test.each([
    [["functions.ts#wait"], "in a worker: "],
    [["functions.ts", "--args", "@list.json"], "default(@list.json): "],
    [["things.ts#twice", "--args", "4"], "twice(4): "],
    [["functions.ts#thread"], "the worker returned another result: "],
    [["functions.ts#notCloneable"], "the result of call() cannot cross a thread"],
    [["functions.ts#mainOnly"], "in a worker: the call in a worker threw Error: not here (functions.ts:8)"],
  ])("measures %j", async (args, said) => {
    const { code, stdout } = await measure(...args);
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain(said);
  });

  test.each([
    [["functions.ts#fails"], 1, "functions.ts#fails: the function threw RangeError: too far (functions.ts:5)"],
    [
      ["things.ts#first", "--args", "[1]"],
      1,
      "If task() made it, measure the function that it calls, without the context",
    ],
    [["functions.ts#loop", "--timeout", "2s"], 1, "it blocked its thread for more than 2 s; --timeout sets this limit"],
    [["functions.ts#ad"], 2, 'functions.ts: it has no export "ad"; did you mean "add"? (its functions: '],
    [["functions.ts#size"], 2, "functions.ts: size is a number: 3, not a function"],
    [["functions.ts", "add"], 2, "usage: clearway measure [options] <FILE#FUNCTION>\n"],
    [["functions.ts#"], 2, '"functions.ts#" is not FILE#FUNCTION, such as sum.ts#total'],
    [["function.ts#add"], 2, 'function.ts does not exist; did you mean "functions.ts"?'],
    [["functions.ts#add", "--args", "1", "two"], 2, "--args: argument 2 is not JSON: two"],
    [["functions.ts#add", "--args", "@none.json"], 2, "--args @none.json: the file cannot be read"],
    [["functions.ts#add", "--budget", "-3"], 2, '"-3" is not a duration'],
  ])("ends %j with status %i", async (args, status, message) => {
    const { code, stdout, stderr } = await measure(...args);
    expect({ code, stdout }).toEqual({ code: status, stdout: "" });
    expect(stderr).toContain(message);
  });
});

user.testThatNothingIsLeft();
