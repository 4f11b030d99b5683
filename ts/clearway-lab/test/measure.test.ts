// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway measure`: the function as a scenario with two ways, and what is said of it.
import { beforeAll, describe, expect, test } from "vitest";
import { type Crossing, crossingOf, findFunction, functionDefinition } from "../src/bench/function.js";
import { Steps, taskModuleOf } from "../src/bench/steps.js";
import type { Answer, LabResults } from "../src/engine/answer.js";
import { adviceForFunction, type FunctionFacts, stallsOf } from "../src/report/answers/text.js";
import { answered } from "./answered.js";
import { UserFolder } from "./user-folder.js";

/** The answers about a function. The parameters are its stalls in milliseconds: called directly, and in a worker. */
function measured(directMs: number, workerMs: number): LabResults {
  const [call] = answered("bench").answers as [Answer];
  const own = { ...call, name: "worker", way: "a worker", thing: "A call in a worker", peer: "a direct call" };
  const { input: _, ...named } = own;
  const of = (ratio: number, more: Partial<Answer>): Answer => ({
    ...named,
    ...{ verdict: ratio > 1 ? "slower" : "faster", interval: { ratio, low: ratio * 0.9, high: ratio * 1.1 }, ...more },
  });
  return {
    ...answered("bench"),
    answers: [
      of(1.2, { subjectNs: directMs * 1.2e6, peerNs: directMs * 1e6 }),
      of(workerMs / directMs, {
        ...{ name: "worker/stall", verb: "blocks", subjectNs: workerMs * 1e6, peerNs: directMs * 1e6 },
      }),
    ],
    controls: [],
  };
}

const said = (results: LabResults, facts: FunctionFacts = {}, options: Parameters<typeof adviceForFunction>[2] = {}) =>
  adviceForFunction(results, facts, options);

describe("what is said of a function", () => {
  test("advises a worker for a call that costs frames directly, and counts them", () => {
    expect(said(measured(240, 2))).toEqual([
      "Use a worker. It blocks the main thread for 2 ms, not 240 ms, and takes 1.20 times as long.",
      "A direct call drops 13 frames at 60 Hz and 28 at 120 Hz; a call in a worker none.",
    ]);
  });

  test("advises a direct call that costs no frame", () => {
    expect(said(measured(1, 1))).toEqual([
      "Use a direct call: it costs no frame, and no other way is measurably faster.",
      "No frame is dropped at 60 or 120 Hz.",
    ]);
  });

  test("has the stalls so far if the time ended before an answer", () => {
    const { answers, ...rest } = measured(1500, 1);
    const open = {
      ...rest,
      answers: answers.map(({ interval: _, ...each }) => ({ ...each, verdict: "open" as const })),
    };
    expect(said(open)[0]).toBe(
      "So far, a call in a worker blocks the main thread for 1 ms, and a direct call for 1500 ms.",
    );
  });

  test.each<[Crossing, RegExp]>([
    [{ argumentsMs: 1, resultMs: 50, isResultDifferent: false }, /^Its result takes 50 ms to copy: return a table/],
    [{ argumentsMs: 90, resultMs: 50, isResultDifferent: false }, /^Its arguments take 90 ms to copy: move buffers/],
  ])("names the way out if a copy of %o is at least half of the worker's stall", (crossing, line) => {
    expect(said(measured(240, 100), { crossing })[2]).toMatch(line);
    expect(said(measured(240, 1000), { crossing })).toHaveLength(2);
    expect(said(measured(240, 2), { crossing })).toHaveLength(2);
  });

  test("converts stalls to another device's time, but not those under 1 ms", () => {
    const results = measured(12, 1);
    expect(stallsOf(results, 3)).toMatchObject({ direct: { ms: 36, dropped60: 1 }, worker: { ms: 1, dropped120: 0 } });
    const lines = said(results, {}, { ratio: 3, there: "the phone takes 3 times as long as here", budget: 16 });
    expect(lines[0]).toContain("It blocks the main thread for 1 ms, not 36 ms");
    expect(lines.slice(1)).toEqual([
      "A direct call drops 1 frame at 60 Hz and 3 at 120 Hz there; a call in a worker none.",
      "There: the phone takes 3 times as long as here. The stalls above are in its time; the answers are this machine's.",
      "Budget: over it: 36 ms there (12 ms here x 3) of 16 ms on the main thread.",
    ]);
  });

  test("has the direct call's stall and the reason if the call in a worker fails", () => {
    const { answers } = measured(240, 240);
    const results = { ...measured(1, 1), answers: [], controls: answers };
    expect(said(results, { notInWorker: "it threw." }, { budget: 300 }).slice(1)).toEqual([
      "A direct call drops 13 frames at 60 Hz and 28 at 120 Hz.",
      "It fails in a worker: it threw.",
      "Budget: within it: 240 ms of 300 ms on the main thread.",
    ]);
  });

  test("says that the results differ, and that no stall was measured", () => {
    const crossing = { argumentsMs: 0, resultMs: 0, isResultDifferent: true };
    expect(said({ ...measured(1, 1), answers: [] }, { crossing }, { budget: 5 })).toEqual([
      "The worker returned another result: the function depends on time, chance or the main thread's state.",
      "Budget: the time ended before a stall was measured; give it more with --time.",
    ]);
    const [{ interval: _, subjectNs: __, peerNs: ___, ...none }] = measured(1, 1).answers as [Answer];
    const failed = { ...measured(1, 1), answers: [], controls: [{ ...none, failed: "a call threw Error: no" }] };
    expect(said(failed, { notInWorker: "no." }, { budget: 5 }).at(-1)).toBe(
      "Budget: not measured: a call threw Error: no.",
    );
  });
});

describe("a function as a scenario", () => {
  const steps = () => new Steps(1000);
  const taskUrl = `data:text/javascript,${encodeURIComponent("export const makeArguments = () => [[3, 1, 2]];")}`;

  test("gives each call new arguments, which the function may change", async () => {
    const { ways, inputs } = await functionDefinition(
      { sort: (list: number[]) => list.sort().join() },
      "sort",
      taskUrl,
    );
    const [direct] = ways;
    expect(await direct!.run(inputs[0]!.make(), undefined)).toBe("1,2,3");
    expect(inputs[0]!.make()).toEqual([[3, 1, 2]]);
  });

  test("says what to measure if a task lacks its context", async () => {
    const module = { default: { first: (_: unknown, list: number[]) => list[0] } };
    const [direct] = (await functionDefinition(module, "first", taskUrl)).ways;
    expect(() => direct!.run([[1]], undefined)).toThrow("If task() made it, measure the function that it calls");
  });

  test("is called once each way to compare the results, and each context is closed", async () => {
    const log: string[] = [];
    const way = (name: string, result: unknown) => ({
      name,
      setup: () => log.push(`open ${name}`),
      run: () => result,
      teardown: () => log.push(`close ${name}`),
    });
    const inputs = [{ name: undefined, make: () => [1], isFresh: true }];
    const same = await crossingOf({ inputs, ways: [way("a", { x: 1 }), way("b", { x: 1 })] }, steps());
    expect(same.isResultDifferent).toBe(false);
    expect(log).toEqual(["open a", "close a", "open b", "close b"]);
    const other = await crossingOf({ inputs, ways: [way("a", 1), way("b", 2)] }, steps());
    expect(other.isResultDifferent).toBe(true);
  });
});

describe("findFunction", () => {
  const f = () => 1;
  test("finds an export, the default export and a task", () => {
    expect(findFunction({ f }, "f")).toBe(f);
    expect(findFunction({ default: f }, "default")).toBe(f);
    expect(findFunction({ default: { f } }, "f")).toBe(f);
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ total: f, other: f }, "totl", 'it has no export "totl"; did you mean "total"? (its functions: #total, #other)'],
    [{ default: { twice: f }, size: 3 }, "x", 'it has no export "x" (its functions: #twice)'],
    [{}, "toString", 'it has no export "toString" (it exports no function)'],
    [{ size: 3 }, "size", "size is a number: 3, not a function"],
  ])("in %o refuses %s", (module, name, message) => {
    expect(() => findFunction(module, name)).toThrow(message);
  });

  test("is called by a task module, whatever its name and its arguments are", () => {
    const text = taskModuleOf("/a b/f.ts", 'x"y', ['"']);
    expect(text).toContain('from "/a b/f.ts"');
    expect(text).toContain('module["x\\"y"]');
    expect(text).toContain(String.raw`JSON.parse("[\"\\\"\"]")`);
  });
});

// Runs `clearway measure` as a user does. Asserts on structure and messages, not on times.

const user = new UserFolder();

describe("clearway measure", () => {
  const measure = (...args: string[]) => user.run("measure", ...args);
  const flat = (text: string): string => text.replace(/\s+/g, " ");

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

  test("a lone way, or a function that cannot run in a worker, whose later call throws ends with status 1 and its reason is printed", async () => {
    user.write(
      "later.mjs",
      `import { isMainThread } from "node:worker_threads";
let calls = 0;
export const f = () => {
  if (!isMainThread) throw new Error("not here");
  if (++calls > 20) throw new Error("too often");
  return 1;
};
export default { only: f };`,
    );
    // The run ends when the call throws.
    const [lone, called] = await Promise.all([
      user.run("bench", "later.mjs", "--time", "600", "--out", "later"),
      measure("later.mjs#f", "--time", "600"),
    ]);
    const why = "(a call threw Error: too often (later.mjs:5)).";
    expect([lone.code, called.code]).toEqual([1, 1]);
    expect(flat(lone.stdout)).toContain(`Nothing could be measured. Doubts - Failed: only ${why}`);
    expect(flat(called.stdout)).toContain(`Failed: A direct call ${why}`);
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
