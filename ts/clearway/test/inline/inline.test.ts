// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  type ClearwayError,
  move,
  type Placement,
  type Pool,
  type PoolOptions,
  pool,
  type WorkerSource,
} from "clearway";
import { describe, expect, test } from "vitest";
import { adviceOf } from "../../src/pool/call/inline.js";
import { PoolTask } from "../../src/pool/schedule/scheduler.js";
import { builtUrl, gate, plainPool, reasonOf, testPool } from "../fixtures/pools.js";

type Placed = typeof import("../fixtures/placed.tasks.js");

const placedUrl = builtUrl("placed");

// The tasks read it when they report their thread.
(globalThis as { thisIsTheCallersThread?: true }).thisIsTheCallersThread = true;

/** Creates a pool of the placed tasks whose module is also loaded on this thread. Its `call` places the calls. */
async function placedPool(
  placement: Placement,
  options: PoolOptions = {},
  source: WorkerSource = placedUrl,
): Promise<Pool<Placed>> {
  const pool = testPool<Placed>(source, options);
  const inline = pool.with({ placement: "inline" }).call;
  await pool.ready();
  while ((await inline.context())[0] !== "caller");
  return { ...pool, call: pool.with({ placement }).call };
}

test("nothing runs inline by default", async () => {
  const { where } = testPool<Placed>(placedUrl).call;
  expect([await where(), await where()]).toEqual(["worker", "worker"]);
});

test("a task with placement inline runs inline once the module is loaded, and a call can override it", async () => {
  const made = testPool<Placed>(placedUrl);
  while ((await made.call.whereInline()) !== "caller");
  expect(await made.with({ placement: "worker" }).call.whereInline()).toBe("worker");
  expect(await made.call.where()).toBe("worker");
});

test("tasks with resources stay in workers", async () => {
  const made = await placedPool("inline");
  expect(await made.call.whereLeased()).toBe("worker 5");
  expect(await made.call.whereLeasedInline()).toBe("worker");
});

test("a task with placement worker stays there, whatever the call asks for", async () => {
  const made = await placedPool("inline");
  expect(await made.call.whereNever()).toBe("worker");
});

test("streams stay in workers", async () => {
  const made = await placedPool("inline");
  for await (const where of made.call.numbers()) expect(where).toBe("worker");
});

test("calls that can be cancelled, have a key or report progress go to workers", async () => {
  const made = await placedPool("inline");
  const { signal } = new AbortController();
  for (const options of [
    { signal },
    { timeoutMs: 1000 },
    { deadlineMs: 1000 },
    { key: "a" },
    { onProgress: () => {} },
  ]) {
    expect(await made.with({ placement: "inline", ...options }).call.where()).toBe("worker");
  }
  const aborted = made.with({ placement: "inline", signal: AbortSignal.abort(new RangeError("gone")) });
  expect(await reasonOf(aborted.call.where())).toBeInstanceOf(RangeError);
});

test("a call with a stream argument goes to a worker, which reads the stream", async () => {
  const made = await placedPool("inline");
  async function* values() {
    yield 1;
  }
  expect(await made.call.first(values())).toBe(1);
  expect(made.stats().tasks["first"]?.inline).toBe(0);
});

/** Makes calls until the pool has settled that its module cannot be loaded. */
async function notesOf(options: PoolOptions) {
  const made = testPool<Placed>(placedUrl, options);
  const { call } = made.with({ placement: "inline" });
  for (let turn = 0; turn < 3; turn++) expect(await call.where()).toBe("worker");
  return (await made.advise()).text;
}

test.each([
  ["that the caller cannot load", "no such chunk", () => Promise.reject(new Error("no such chunk"))],
  ["without tasks", "exports no tasks", async () => ({})],
])("a module %s fails no call, and the advice says why", async (_what, why, module) => {
  expect(await notesOf({ module })).toContain(why);
});

test("the module is loaded once, and only when a call may run inline, even if its loader makes calls itself", async () => {
  let asked = 0;
  const loading = gate<unknown>();
  const made = testPool<Placed>(placedUrl, {
    module: () => {
      asked++;
      void call.where();
      return loading.promise;
    },
  });
  const { call } = made.with({ placement: "inline" });
  await made.call.where();
  await made.call.where();
  expect(asked).toBe(0);
  expect(await Promise.all([call.where(), call.where()])).toEqual(["worker", "worker"]);
  loading.tell(await import(/* @vite-ignore */ placedUrl.href));
  while ((await call.where()) !== "caller");
  expect(asked).toBe(1);
});

// What Node's import() gives for `exports.default = expose({ … })`, alone and as the TypeScript compiler writes it.
test.each([{}, { __esModule: true, helper: () => "of the file" }])(
  "a CommonJS module %o runs inline",
  async (others) => {
    const { default: tasks } = (await import(/* @vite-ignore */ placedUrl.href)) as Placed;
    const made = testPool<Placed>(placedUrl, { module: async () => ({ default: { ...others, default: tasks } }) });
    const { call } = made.with({ placement: "inline" });
    while ((await call.where()) !== "caller") expect((await made.advise()).notes).toEqual([]);
  },
);

test("terminate() does not wait for a module that never loads", async () => {
  const asked = gate();
  const made = testPool<Placed>(placedUrl, {
    module: () => {
      asked.tell();
      return new Promise(() => {});
    },
  });
  const { call } = made.with({ placement: "inline" });
  await made.ready();
  expect(await call.where()).toBe("worker");
  await asked.promise;
  const waiting = reasonOf(call.never());
  await made.terminate();
  expect(await waiting).toMatchObject({ code: "pool-terminated" });
});

test("an invalid placement is refused with its value", () => {
  const thrownBy = (act: () => unknown) => {
    try {
      act();
    } catch (reason) {
      return reason as ClearwayError;
    }
    throw new Error("it did not throw");
  };
  const made = testPool<Placed>(placedUrl);
  for (const placement of ["here", "auto"]) {
    const refused = thrownBy(() => made.with({ placement: placement as never }));
    expect(refused).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining(`placement="${placement}"`),
    });
  }
  expect(thrownBy(() => pool(placedUrl, { placement: "inline" } as never)).code).toBe("invalid-argument");
});

function taskOf(change: Partial<PoolTask>, ...runsUs: number[]): PoolTask {
  const made = Object.assign(new PoolTask("score"), { index: 0, kind: "function", ...change });
  for (let run = 0; run < 16; run++) made.estimate.add(runsUs[run % runsUs.length]!);
  return made;
}

test.each<[saying: string, mayRunInline: boolean, task: PoolTask]>([
  [
    'score() takes 1.4 us, less than 5 ms: it may run on the calling thread, with placement: "inline"',
    true,
    taskOf({}, 1.4),
  ],
  ["takes 4.0 ms, less than 5 ms: it may stay on the calling thread", true, taskOf({ placement: "inline" }, 4000)],
  ["takes 40 ms, more than 5 ms: keep it in a worker", false, taskOf({}, 4e4)],
  ["takes 40 ms, more than 5 ms: move it to a worker", false, taskOf({ placement: "inline" }, 4e4)],
  ["and up to 6.0 ms, more than 5 ms", false, taskOf({}, 1, 1, 1, 6000)],
  ["but it holds a resource", false, taskOf({ placement: "worker" }, 1)],
  ["is a stream", false, taskOf({ kind: "stream" }, 1)],
])("the advisor says: %s", (saying, mayRunInline, task) => {
  const { tasks, text } = adviceOf([task], undefined);
  expect(text).toContain(saying);
  expect(tasks).toMatchObject([{ task: "score", samples: 16, mayRunInline }]);
});

test("the advisor gives no advice after fewer than 16 runs", () => {
  const task = Object.assign(new PoolTask("score"), { index: 0, kind: "function" });
  for (let run = 0; run < 15; run++) task.estimate.add(1);
  const [advice] = adviceOf([task], undefined).tasks;
  expect(advice).toMatchObject({ advice: "score() was measured 15 times: too little to say", runUs: undefined });
  expect(advice!.mayRunInline).toBeUndefined();
});

test("the advisor leaves out names that the module does not expose, and puts notes last", () => {
  expect(adviceOf([new PoolTask("nothing"), taskOf({}, 1)], "no module").text).toMatch(
    /^score\(\) .*\nNothing runs inline: no module\.$/,
  );
});

test("a pool is advised by its workers' measurements, and no task runs for it", async () => {
  const pool = plainPool();
  for (let call = 0; call < 20; call++) await pool.call.add(call);
  const advice = await pool.advise();
  expect(advice.tasks.find(({ task }) => task === "add")).toMatchObject({
    placement: "worker",
    calls: 20,
    samples: 20,
  });
  expect(JSON.parse(JSON.stringify(advice)).tasks).toHaveLength(advice.tasks.length);
  expect(pool.stats().tasks["add"]?.calls).toBe(20);
});

test("runs on the calling thread are measured too", async () => {
  const { call, advise } = await placedPool("inline");
  for (let run = 0; run < 20; run++) await call.add(run, run);
  const { tasks } = await advise();
  expect(tasks.find(({ task }) => task === "add")).toMatchObject({ calls: 20, samples: 20 });
});

// One contract for both places: a caller cannot distinguish them, except by their duration.
describe.each([
  ["inline", "caller"],
  ["worker", "worker"],
] as const)("placed %s, a call", (placement, thread) => {
  const open = () => placedPool(placement);

  test("runs in that place", async () => {
    const pool = await open();
    expect(await pool.call.where()).toBe(thread);
    expect(await pool.call.whereAsync()).toBe(thread);
    expect(pool.stats().tasks["where"]).toMatchObject({ calls: 1, ok: 1, inline: thread === "caller" ? 1 : 0 });
  });

  test("rejects when a getter of an argument throws, and does not throw at its caller", async () => {
    const pool = await open();
    const value = {
      get inner() {
        throw new RangeError("not today");
      },
    };
    expect(await reasonOf(pool.call.echo(value))).toMatchObject({ message: expect.stringContaining("not today") });
    expect(await reasonOf(pool.call.echo([value]))).toMatchObject({ message: expect.stringContaining("not today") });
    expect(await pool.call.echo(1)).toEqual([1]);
  });

  test("receives a copy of its arguments, and its caller a copy of the result", async () => {
    const pool = await open();
    const rows = [{ id: 1, tags: ["a"] }];
    const given = (await pool.call.keep(rows)) as typeof rows;
    rows[0]!.tags.push("changed by the caller");
    given[0]!.tags.push("changed in the result");
    expect(await pool.call.kept()).toEqual([{ id: 1, tags: ["a"] }]);
  });

  test("keeps the structure of values: cycles, holes, dates, maps, shared objects", async () => {
    const pool = await open();
    const cyclic: Record<string, unknown> = { name: "self" };
    cyclic["self"] = cyclic;
    // biome-ignore lint/suspicious/noSparseArray: the test needs a hole
    const holed = [1, , 3];
    const twice = { n: 1 };
    const values = [cyclic, holed, new Date(0), new Map([[1, new Set(["x"])]]), [twice, twice], 5n, undefined];
    const back = (await pool.call.echo(...values)) as unknown[];
    expect(back).toEqual(structuredClone(values));
    expect(1 in (back[1] as unknown[])).toBe(false);
    const pair = back[4] as unknown[];
    expect(pair[0]).toBe(pair[1]);
  });

  test("takes moved arguments away from their owner", async () => {
    const pool = await open();
    const bytes = new Uint8Array(64);
    expect(await pool.call.lengthOf(move(bytes))).toEqual([thread, 64]);
    expect(bytes.byteLength).toBe(0);
    expect(pool.stats().ledger.toWorkers.movedBytes).toBe(64);
  });

  test("leaves unmoved memory to its owner, and the ledger counts a copy", async () => {
    const pool = await open();
    const bytes = new Uint8Array(64);
    expect(await pool.call.lengthOf(bytes)).toEqual([thread, 64]);
    expect(bytes.byteLength).toBe(64);
    expect(pool.stats().ledger.toWorkers.copies["argument-not-moved"]).toEqual({ count: 1, bytes: 64 });
  });

  test("is refused under strict when memory would be copied", async () => {
    const pool = await open();
    expect((await reasonOf(pool.with({ strict: true, placement }).call.sum(new Uint8Array(8)))).code).toBe(
      "would-copy",
    );
  });

  test("moves its result's memory", async () => {
    const pool = await open();
    const bytes = await pool.call.memory();
    expect(bytes.byteLength).toBe(1000);
    expect(await pool.call.memoryLength()).toBe(0);
    expect(pool.stats().ledger.fromWorkers.movedBytes).toBe(1000);
  });

  test("is refused for a result whose memory moved with an earlier one, with the task's name and a remedy", async () => {
    const pool = await open();
    expect(await pool.call.sheet()).toHaveLength(1000);
    for (const again of [pool.call.sheet(), pool.call.sheetLater()]) {
      expect(await reasonOf(again)).toMatchObject({
        code: "not-cloneable",
        message: expect.stringMatching(
          /^the result of sheet\w*\(\) .*moved away with an earlier result.*move\(value, \[\]\)$/,
        ),
      });
    }
    expect((await reasonOf(pool.call.returnsFunction())).message).toMatch(/^the result of returnsFunction\(\) /);
  });

  test("fails with the same error: class, name, message, code and cause", async () => {
    const pool = await open();
    for (const failing of [pool.call.fail("empty"), pool.call.failLater("empty")]) {
      const reason = (await reasonOf(failing)) as Error;
      expect(reason).toBeInstanceOf(RangeError);
      expect(reason.constructor).toBe(RangeError);
      expect(reason).toMatchObject({ name: "OutOfPaper", message: "empty", code: "EPAPER" });
      expect(reason.stack).toContain("placed.tasks");
    }
    const { cause } = (await reasonOf(pool.call.fail("empty"))) as Error;
    expect(cause).toBeInstanceOf(TypeError);
    expect(pool.stats().tasks["fail"]).toMatchObject({ calls: 2, ok: 0, failed: 2 });
  });

  test("fails with a copy of what was thrown", async () => {
    const pool = await open();
    const thrown = (await reasonOf(pool.call.throwList([1]))) as unknown as number[];
    thrown.push(2);
    expect(await pool.call.kept()).toEqual([1]);
  });

  test("is refused when a value cannot cross", async () => {
    const pool = await open();
    expect((await reasonOf(pool.call.echo(() => 1))).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.echo(Symbol("x")))).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.returnsFunction())).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.returnsGenerator() as unknown as Promise<unknown>)).code).toBe("not-cloneable");
  });

  test("has a context", async () => {
    const pool = await open();
    expect(await pool.call.context()).toEqual([thread, false, false]);
  });

  test("finishes before close() settles", async () => {
    const pool = await open();
    const later = pool.call.whereAsync();
    await pool.close();
    expect(await later).toBe(thread);
  });

  test("fails, and leaves nothing open, when the promise it returns throws as it is read", async () => {
    const pool = await open();
    const error = await reasonOf(pool.call.lies());
    expect(error.message).toBe("no constructor");
    expect(pool.stats().open).toBe(0);
  });

  test("is rejected by terminate(), even when it never ends", async () => {
    const pool = await open();
    const never = reasonOf(pool.call.never());
    expect(pool.stats().open).toBe(1);
    await pool.terminate();
    expect((await never).code).toBe("pool-terminated");
    expect(pool.stats().open).toBe(0);
    expect((await reasonOf(pool.call.add(1, 2))).code).toBe("pool-terminated");
  });
});
