// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test, vi } from "vitest";
import { inDevelopment, type ParentEndpoint } from "../../src/host/host.js";
import type { Engine } from "../../src/pool/engine.js";
import { type Finding, Watch } from "../../src/pool/lifecycle/warnings.js";
import { watched } from "../../src/task/expose.js";
import { emptySide, enterCopy } from "../../src/transfer/ledger.js";
import { callbackKey } from "../../src/transport/callback.js";
import { Op } from "../../src/transport/protocol.js";

const printed: Finding[] = [];
beforeEach(() => void printed.splice(0));

const task = (name: string) => ({ name });
const findings = (): unknown[] => [...printed];

/** A watch with a fake clock, and a queue whose length the test sets. */
function watching() {
  let nowMs = 5_000;
  const calls: unknown[] = [];
  const host = {
    settings: { name: "images", warnings: true, max: 2, concurrency: 1 },
    workers: { all: [] as unknown[] },
    endings: new Set(),
    tasks: Object.assign(new Map([["resize", {}]]), { known: true }),
    backlog: {
      get length() {
        return calls.length;
      },
      all: () => calls,
      queues: [{ peek: () => calls[0] }],
    },
  };
  const timers: (() => void)[] = [];
  const startTimer = (ms: number, act: () => void) => {
    expect(ms).toBe(1_000);
    return timers.push(act) as never;
  };
  const watch = new Watch(
    host as unknown as Engine,
    () => nowMs,
    startTimer,
    (_pool, finding) => printed.push(finding),
  );
  const queue = (length: number, name = "resize"): void => {
    while (calls.length < length) calls.push({ task: task(name), options: { workerIndex: -1 } });
    calls.length = length;
    watch.queued();
  };
  return {
    watch,
    host,
    queue,
    calls,
    /** Ends the second that a timer waits, and returns how many timers have run. */
    second: (): number => timers.splice(0).map((act) => act()).length,
    pass: (ms: number): void => {
      nowMs += ms;
    },
  };
}

describe("a queue", () => {
  test("is reported once when its least length has grown at ten looks in a row", () => {
    const { queue, pass } = watching();
    for (let second = 0; second <= 11; second++) {
      queue(second + 1, second % 3 === 0 ? "blur" : "resize");
      pass(999);
      queue(second + 5, "resize");
      if (second === 10) expect(findings()).toEqual([]);
      pass(1);
    }
    queue(30, "resize");
    expect(findings()).toEqual([{ kind: "queue", task: "resize", items: expect.any(Number) }]);
    for (let second = 0; second < 30; second++) {
      queue(40 + second);
      pass(1_000);
    }
    expect(findings()).toHaveLength(1);
  });

  test("is not reported if it was short once between two looks, however long it gets", () => {
    const { queue, pass } = watching();
    for (let second = 0; second < 40; second++) {
      queue(1);
      pass(500);
      queue(1_000 * second);
      pass(500);
    }
    expect(findings()).toEqual([]);
  });

  test("is not reported if it stops growing before the tenth look, or grows within a second", () => {
    const { queue, pass } = watching();
    for (let second = 0; second < 40; second++) {
      queue(second % 9);
      pass(1_000);
    }
    for (let length = 100; length < 10_000; length++) queue(length);
    expect(findings()).toEqual([]);
  });

  test("is not reported before the first worker is ready", () => {
    const { queue, pass, host } = watching();
    host.tasks.known = false;
    for (let second = 0; second < 30; second++) {
      queue(second + 1);
      pass(1_000);
    }
    expect(findings()).toEqual([]);
  });
});

describe("a deadlock", () => {
  const waiting = (workerIndex = -1) => ({ task: task("add"), options: { workerIndex } });
  const asking = (asked = true) => ({
    counted: 1,
    task: task("ask"),
    inputs: [{ iterator: {} }, { iterator: { [callbackKey]: { asked, connect: () => {} } } }],
  });
  const busy = { counted: 1, task: task("resize"), inputs: undefined };
  const worker = (...calls: unknown[]) => ({ life: { state: "ready" }, calls: { values: () => calls } });

  test("is reported if the same call waits for a second for workers that all wait for callbacks", () => {
    const { watch, host, calls, second } = watching();
    host.workers.all = [worker(asking()), worker(asking())];
    calls.push(waiting());
    watch.queued();
    watch.queued();
    expect(findings()).toEqual([]);
    expect(second()).toBe(1);
    expect(findings()).toEqual([{ kind: "deadlock", task: "add", asking: "ask" }]);
    watch.queued();
    expect(second()).toBe(0);
  });

  test("is not reported if a worker is free, runs another task, starts, or has answered, or if the call has left the queue", () => {
    for (const other of [
      worker(),
      worker(busy),
      worker(asking(false)),
      { ...worker(asking()), life: { state: "starting" } },
      undefined,
    ]) {
      const { watch, host, calls, second } = watching();
      host.workers.all = [worker(asking()), other];
      calls.push(waiting());
      watch.queued();
      expect(second()).toBe(0);
      host.workers.all = [worker(asking()), worker(asking())];
      watch.queued();
      host.workers.all = [worker(asking()), other];
      expect(second()).toBe(1);
      expect(second()).toBe(0);
      host.workers.all = [worker(asking()), worker(asking())];
      watch.queued();
      calls.length = 0;
      second();
    }
    expect(findings()).toEqual([]);
  });

  test("is found for the worker of a key, and looks again at the next call after one that has left", () => {
    const { watch, host, calls, second } = watching();
    host.workers.all = [worker(), worker(asking())];
    calls.push(waiting(1));
    watch.queued();
    calls[0] = waiting(1);
    expect(second()).toBe(1);
    expect(findings()).toEqual([]);
    expect(second()).toBe(1);
    expect(findings()).toHaveLength(1);
  });
});

describe("a copied argument", () => {
  const sent = (bytes: number, reason: "argument-not-moved" | "small", key?: symbol) => {
    const crossing = emptySide();
    enterCopy(crossing, reason, bytes);
    return { crossing, task: task("resize"), options: { key } } as unknown as Parameters<Watch["sent"]>[0];
  };

  test("of 1 MiB or more is reported once", () => {
    const { watch } = watching();
    watch.sent(sent(2 ** 20 - 1, "argument-not-moved"));
    watch.sent(sent(2 ** 21, "small"));
    watch.sent({ ...sent(0, "small"), crossing: undefined });
    expect(findings()).toEqual([]);
    watch.sent(sent(2 ** 20, "argument-not-moved"));
    watch.sent(sent(2 ** 24, "argument-not-moved"));
    expect(findings()).toEqual([{ kind: "copied", task: "resize", bytes: 2 ** 20 }]);
  });

  test("of a broadcast is not reported, because it cannot be moved", () => {
    const { watch } = watching();
    watch.sent(sent(2 ** 24, "argument-not-moved", Symbol()));
    expect(findings()).toEqual([]);
  });
});

/** A value whose copy may be slow. */
const large = { rows: "x".repeat(2 ** 18) };

describe("a slow copy", () => {
  test("of arguments is reported once, with the task of the first call in the message", () => {
    const { watch, pass } = watching();
    let costMs = 50;
    const posted: unknown[] = [];
    const handle = {
      post: (message: unknown, transfer: readonly object[]) => {
        posted.push(message, transfer);
        pass(costMs);
      },
    };
    watch.started({
      handle,
      calls: new Map([
        [6, { task: task("add"), args: [1, "a", {}] }],
        [7, { task: task("resize"), args: [5, large] }],
      ]),
    } as never);
    const [ping, call] = [
      [Op.Ping, 0, 0, 0, Op.Call, 6, 0, []],
      [Op.Call, 7, 0, []],
    ];
    handle.post(call, []);
    costMs = 51;
    handle.post(ping, []);
    expect(findings()).toEqual([]);
    handle.post([...ping, ...call], []);
    handle.post(call, []);
    expect(posted).toEqual([call, [], ping, [], [...ping, ...call], [], call, []]);
    expect(findings()).toEqual([{ kind: "arguments", task: "resize", ms: 51 }]);
  });

  test("of a result is reported once, whatever else a hostile worker sends", () => {
    const { watch } = watching();
    for (const [task, ms] of [
      ["other", 60],
      [undefined, 60],
      [{}, 60],
      ["resize", "long"],
      ["resize", Number.NaN],
    ])
      watch.slowResult(task, ms);
    expect(findings()).toEqual([]);
    watch.slowResult("resize", 60);
    watch.slowResult("resize", 70);
    expect(findings()).toEqual([{ kind: "result", task: "resize", ms: 60 }]);
  });

  test("is measured in the worker, for results and values of streams that are large", () => {
    let nowMs = 0;
    let costMs = 0;
    const slow: unknown[] = [];
    const endpoint = {
      post: (): void => {
        nowMs += costMs;
      },
      marked: true,
    } as unknown as ParentEndpoint;
    const made = watched(
      endpoint,
      (task, ms) => slow.push([task, ms]),
      () => nowMs,
    );
    expect(made.marked).toBe(true);
    made.called?.(1, "rows");
    made.called?.(2, "text");
    costMs = 50;
    made.post([Op.Result, 1, large, 0], []);
    costMs = 60;
    made.post([Op.Result, 2, "a text", 0], []);
    made.post([Op.Result, 1, {}, 0], []);
    made.post([Op.Progress, 1, large, 0], []);
    made.post([Op.Result, 9, large, 0], []);
    expect(slow).toEqual([]);
    made.post([Op.Result, 2, "a text", 0, Op.Chunk, 1, large, 0], []);
    expect(slow).toEqual([["rows", 60]]);
    for (let id = 10; id < 3_000; id++) made.called?.(id, "rows");
    made.post([Op.Result, 2_999, large, 0], []);
    expect(slow).toHaveLength(2);
  });
});

// Vite replaces the expression in code for browsers, as bundlers do.
test.runIf(typeof window === "undefined")("warnings are on where NODE_ENV is there and not production", () => {
  const onIn = (process: unknown) => {
    vi.stubGlobal("process", process);
    const on = inDevelopment();
    vi.unstubAllGlobals();
    return on;
  };
  const inEnvironment = (NODE_ENV?: string) => onIn({ env: { NODE_ENV } });
  expect(["development", "test", undefined, "production"].map(inEnvironment)).toEqual([true, true, true, false]);
  expect([onIn(undefined), onIn({})]).toEqual([false, false]);
});
