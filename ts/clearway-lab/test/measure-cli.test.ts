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
export const block = () => { const end = performance.now() + 60; while (performance.now() < end); return 1; };
export const fails = () => { throw new RangeError("too far"); };
export const loop = () => { for (;;); };
export const mainOnly = () => { if (!isMainThread) throw new Error("not here"); return 1; };
export const thread = () => isMainThread;
export const size = 3;
export default (x: number) => x;`,
    );
    user.write(
      "things.ts",
      `import { expose, task } from "clearway/worker";
export default expose({ twice: (x: number) => 2 * x, first: task((_, list: number[]) => list[0]) });`,
    );
  });

  test("prints what to do, the answers and the budget, and exits with 1 for a function that is over it", async () => {
    const { code, stdout } = await measure("functions.ts#block", "--time", "20", "--budget", "20ms");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\nblock\(\): directly, or in a worker\?\n- /);
    expect(stdout).toMatch(/\n- A direct call drops \d+ frames at 60 Hz and \d+ at 120 Hz; a call in a worker /);
    expect(stdout).toMatch(/\n- Budget: over it: \S+ ms of 20 ms on the main thread\.\n/);
  });

  test("prints the answers of the engine as JSON, with the function and its stalls", async () => {
    const args = ["functions.ts#thread", "--args", "-1", '"a b"', "--time", "20", "--device", "3", "--json"];
    const { code, stdout } = await measure(...args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ version: 2, function: "thread", file: "functions.ts", args: [-1, "a b"], device: { ratio: 3 } },
      ...{ stalls: { direct: { ms: expect.any(Number) } }, crossing: { isResultDifferent: true } },
      answers: [{ name: "worker" }, { name: "worker/stall", verb: "blocks" }],
      run: { command: "clearway measure functions.ts#thread --args -1 '\"a b\"'" },
    });
  });

  test("measures a task of the file, and says why another one fails in a worker", async () => {
    const [task, lone] = await Promise.all([
      measure("things.ts#twice", "--args", "4", "--time", "20", "--json"),
      measure("functions.ts#mainOnly", "--time", "20"),
    ]);
    expect(JSON.parse(task.stdout)).toMatchObject({ crossing: { isResultDifferent: false } });
    expect(lone.code).toBe(0);
    expect(lone.stdout).toContain("- It fails in a worker: the first call threw Error: not here (functions.ts:6).");
  });

  test.each([
    [["functions.ts#fails"], 1, "functions.ts#fails: the first call threw RangeError: too far (functions.ts:4)"],
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
