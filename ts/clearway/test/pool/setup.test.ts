// SPDX-License-Identifier: MIT OR Apache-2.0
import { type PoolOptions, pool, run } from "clearway";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  builtUrl,
  inProcesses,
  type Plain,
  plainPool,
  plainUrl,
  reasonOf,
  testPool,
  workerMaker,
} from "../fixtures/pools.js";
import type { SetupOrder } from "../fixtures/setup.tasks.js";

type Setup = typeof import("../fixtures/setup.tasks.js");

const source = builtUrl("setup");
const withSetup = (setup: unknown, options: PoolOptions = {}) => ({ ...options, setup }) as PoolOptions;
const prepared = (setup?: SetupOrder, options?: PoolOptions) => testPool<Setup>(source, withSetup(setup, options));

/** A channel to a `setup` that waits. */
function held() {
  const name = `setup-${Math.random()}`;
  const channel = new BroadcastChannel(name);
  onTestFinished(() => channel.close());
  let begun = 0;
  let look = (): void => {};
  channel.onmessage = ({ data }) => {
    if (data === "begun") begun++;
    look();
  };
  return {
    name,
    /** Settles when `count` workers wait in their `setup`. */
    begun: async (count = 1) => {
      while (begun < count) await new Promise<void>((resolve) => (look = resolve));
    },
    tell: (order: "open" | "fail" | "leave") => channel.postMessage(order),
  };
}

describe("setup runs", () => {
  test("once in each worker, before the first call, with a copy of the pool's data", async () => {
    const order = { text: "ready" };
    const made = prepared(order, { size: 2 });
    const calls = [made.call.text(), made.call.read(1), made.with({ key: 1 }).call.text()];
    expect(await Promise.all(calls)).toEqual(["ready", ["ready", 1], "ready"]);
    expect(await made.broadcast.runs()).toEqual([1, 1]);
    expect(await made.broadcast.seen()).toEqual(Array(2).fill(["declared later", order]));
  });

  test("without data, too", async () => {
    const made = prepared();
    expect(await made.call.text()).toBe("no data");
  });

  test("before the first value of a stream", async () => {
    const made = prepared({ text: "ab" });
    const letters: string[] = [];
    for await (const letter of made.call.letters()) letters.push(letter);
    expect(letters).toEqual(["a", "b"]);
  });

  test("in a worker that replaces another one, with the data as they were when the pool was made", async () => {
    const order = { text: "first" };
    const made = prepared(order);
    const first = await made.call.who();
    order.text = "changed";
    await reasonOf(made.call.leave());
    expect(await made.call.text()).toBe("first");
    expect(await made.call.who()).not.toBe(first);
    expect(await made.call.runs()).toBe(1);
  });

  test("in the worker of run(), and of a factory", async () => {
    expect(await run<Setup>(source, { setup: { text: "once" } }).call.text()).toBe("once");
    const newWorker = await workerMaker();
    const made = testPool<Setup>(() => newWorker(source), withSetup({ text: "made" }));
    expect(await made.call.text()).toBe("made");
  });

  test.skipIf(inProcesses)("before the worker counts as ready, while calls wait and can be cancelled", async () => {
    const { name, begun, tell } = held();
    const made = prepared({ text: "late", channel: name });
    const call = made.call.text();
    const leaving = new AbortController();
    const left = reasonOf(made.with({ signal: leaving.signal }).call.text());
    await begun();
    leaving.abort(new RangeError("left"));
    expect(await left).toMatchObject({ message: "left" });
    expect(made.stats()).toMatchObject({ open: 1, workers: { size: 1, ready: 0 } });
    tell("open");
    expect(await call).toBe("late");
  });

  test("never on the caller's thread: the tasks of its module always run in workers", async () => {
    const made = prepared({ text: "there" });
    const { call } = made.with({ placement: "inline" });
    for (let turn = 0; turn < 20; turn++) expect(await call.text()).toBe("there");
    expect(made.stats().tasks["text"]!.inline).toBe(0);
  });
});

describe("a setup that fails", () => {
  test.each<[NonNullable<SetupOrder["fail"]>, object]>([
    ["error", { cause: { name: "RangeError", message: "no setup", code: "odd" } }],
    ["value", { cause: "a text" }],
    ["uncloneable", {}],
  ])("with an %s fails ready() and every call with setup-failed, every time", async (fail, more) => {
    const made = prepared({ fail });
    for (let turn = 0; turn < 3; turn++) {
      const answers = await Promise.all([
        reasonOf(made.ready()),
        reasonOf(made.call.text()),
        reasonOf(made.with({ key: "k" }).call.text()),
        reasonOf(made.call.letters().next()),
        reasonOf(made.map.read([1, 2])),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ code: "setup-failed", ...more });
    }
    expect(made.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { restarts: 0 } });
    await made.close();
  });

  test("in one worker leaves the calls to the others, and ends its row when a setup succeeds", async () => {
    const { name, begun, tell } = held();
    const made = prepared({ text: "ready", channel: name }, { size: { min: 1, max: 2 } });
    const first = made.call.text();
    await begun();
    tell("open");
    expect(await first).toBe("ready");
    // The keys belong to both places. The second place has no worker yet.
    const keys = [0, 1, 2, 3, 4, 5, 6, 7].map((key) => reasonOfAny(made.with({ key }).call.text()));
    await begun(2);
    tell("fail");
    const outcomes = await Promise.all(keys);
    expect(new Set(outcomes)).toEqual(new Set(["ready", "setup-failed"]));
    expect(made.stats().workers.pause).toMatchObject({ exits: 1 });
    const again = Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((key) => made.with({ key }).call.text()));
    await begun(3);
    tell("open");
    expect(await again).toEqual(Array(8).fill("ready"));
    expect(made.stats().workers.pause).toBeUndefined();
  });

  test("fails the call that the worker had received, and the next call starts another worker", async () => {
    const { name, begun, tell } = held();
    const made = prepared({ text: "ready", channel: name }, { size: 1 });
    const call = reasonOf(made.call.text());
    await begun();
    tell("fail");
    expect(await call).toMatchObject({ code: "setup-failed", cause: { message: "told to fail" } });
    const next = made.call.text();
    await begun(2);
    tell("open");
    expect(await next).toBe("ready");
  });

  test("by ending its worker fails calls with worker-start-failed", async () => {
    const made = prepared({ fail: "leave" });
    expect(await reasonOf(made.call.text())).toMatchObject({ code: expect.stringMatching(/^worker-/) });
  });

  test("by not ending fails calls after startTimeoutMs", async () => {
    const made = prepared({ fail: "hang" }, { startTimeoutMs: 300 });
    expect(await reasonOf(made.call.text())).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining(
        "it was not ready within 300 ms: `startTimeoutMs` includes the module's `setup` (is the URL right",
      ),
    });
  });

  test.each(["close", "terminate"] as const)("to end does not hold up %s()", async (end) => {
    const { name, begun } = held();
    const made = prepared({ channel: name });
    await begun();
    await made[end]();
    expect(made.stats().workers.size).toBe(0);
  });
});

describe("the option setup", () => {
  test("is refused when it cannot be cloned, or is nested too deep to be read", () => {
    let deep: unknown[] = [];
    for (let level = 0; level < 600; level++) deep = [deep];
    for (const setup of [{ wait: () => {} }, deep])
      expect(() => pool<Plain>(plainUrl, withSetup(setup))).toThrow(
        expect.objectContaining({
          code: "not-cloneable",
          message: expect.stringContaining("setup cannot cross a thread"),
        }),
      );
  });

  test("is refused when the module has no setup", async () => {
    const made = plainPool(withSetup(5));
    expect(await reasonOf(made.call.add(1, 2))).toMatchObject({
      code: "setup-failed",
      message: expect.stringContaining("passes none to expose()"),
    });
  });
});

async function reasonOfAny(promise: PromiseLike<string>): Promise<string> {
  try {
    return await promise;
  } catch (reason) {
    return (reason as { code: string }).code;
  }
}
