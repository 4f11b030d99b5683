// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ClearwayError } from "../../src/error/clearway-error.js";
import { clock } from "../../src/globals.js";
import type { PoolCall } from "../../src/pool/call/call.js";
import type { Engine } from "../../src/pool/engine.js";
import { exitedBeforeCall, pauseOf } from "../../src/pool/lifecycle/lost-worker.js";
import { accepts, choose, Estimate, mayGoAhead, PoolTask } from "../../src/pool/schedule/scheduler.js";
import { type PoolWorker, WorkerLife, type WorkerState } from "../../src/pool/worker/worker.js";
import { workerIndexOf } from "../../src/pool/worker-of-key.js";
import { isFromWorker, Op } from "../../src/transport/protocol.js";
import { fakeClock, useFakeTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";

const acts = {
  ready: (life: WorkerLife) => life.ready(),
  drainIdle: (life: WorkerLife) => life.drain(0),
  drainBusy: (life: WorkerLife) => life.drain(1),
  drainedIdle: (life: WorkerLife) => life.drained(0),
  drainedBusy: (life: WorkerLife) => life.drained(1),
  exit: (life: WorkerLife) => life.exit(false),
  exitKilled: (life: WorkerLife) => life.exit(true),
};
type Event = keyof typeof acts;

const ways: Record<WorkerState, Event[]> = {
  starting: [],
  ready: ["ready"],
  draining: ["ready", "drainBusy"],
  closing: ["ready", "drainIdle"],
  gone: ["ready", "exit"],
};

const table: Record<WorkerState, Record<Event, [action: unknown, then: WorkerState]>> = {
  starting: {
    ready: [true, "ready"],
    drainIdle: ["kill", "starting"],
    drainBusy: ["kill", "starting"],
    drainedIdle: ["nothing", "starting"],
    drainedBusy: ["nothing", "starting"],
    exit: ["failedToStart", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  ready: {
    ready: [false, "ready"],
    drainIdle: ["close", "closing"],
    drainBusy: ["wait", "draining"],
    drainedIdle: ["nothing", "ready"],
    drainedBusy: ["nothing", "ready"],
    exit: ["crashed", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  draining: {
    ready: [false, "draining"],
    drainIdle: ["close", "closing"],
    drainBusy: ["wait", "draining"],
    drainedIdle: ["close", "closing"],
    drainedBusy: ["wait", "draining"],
    exit: ["crashed", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  closing: {
    ready: [false, "closing"],
    drainIdle: ["nothing", "closing"],
    drainBusy: ["nothing", "closing"],
    drainedIdle: ["nothing", "closing"],
    drainedBusy: ["nothing", "closing"],
    exit: ["wanted", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  gone: {
    ready: [false, "gone"],
    drainIdle: ["nothing", "gone"],
    drainBusy: ["nothing", "gone"],
    drainedIdle: ["nothing", "gone"],
    drainedBusy: ["nothing", "gone"],
    exit: ["nothing", "gone"],
    exitKilled: ["nothing", "gone"],
  },
};

describe("the life of a worker", () => {
  for (const state of Object.keys(table) as WorkerState[]) {
    test.each(Object.keys(table[state]) as Event[])(`${state}, then %s`, (event) => {
      const life = new WorkerLife();
      for (const step of ways[state]) acts[step](life);
      expect(life.state).toBe(state);
      const [action, then] = table[state][event];
      expect(acts[event](life)).toBe(action);
      expect(life.state).toBe(then);
    });
  }
});

describe("restarts", () => {
  const why = new ClearwayError("worker-exited", "the worker ended itself");

  // Creates the parts of a pool that restarts read, without a worker.
  function poolOf({ othersLive = false } = {}) {
    const task = { ok: 0, failed: 0 };
    const failed: unknown[] = [];
    const engine = {
      tasks: new Map([["add", task]]),
      workers: {
        restartTimer: undefined as unknown,
        noneComes: !othersLive,
        startFailed: (_place: number, reason: unknown) => failed.push(reason),
        startForReady: () => {},
      },
      scheduler: { run: () => {} },
    };
    const pool = engine as unknown as Engine;
    return { pool, task, failed, workers: engine.workers, end: () => exitedBeforeCall(pool, 0, why) };
  }

  beforeEach(() => useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));

  test("a pool without failed workers reports no pause", () => {
    expect(pauseOf(poolOf().pool)).toBeUndefined();
  });

  test("a pool reports the number of exits in a row, and the milliseconds until its next start", () => {
    const { pool, end } = poolOf();
    end();
    expect(pauseOf(pool)).toEqual({ exits: 1, nextStartInMs: 0 });
    end();
    expect(pauseOf(pool)).toEqual({ exits: 2, nextStartInMs: 10 });
    vi.advanceTimersByTime(4);
    expect(pauseOf(pool)).toEqual({ exits: 2, nextStartInMs: 6 });
    vi.advanceTimersByTime(6);
    expect(pauseOf(pool)).toEqual({ exits: 2, nextStartInMs: 0 });
    end();
    expect(pauseOf(pool)).toEqual({ exits: 3, nextStartInMs: 20 });
  });

  test("a pool waits at most 2,000 ms while another worker lives, and not at all after it has given up", () => {
    const living = poolOf({ othersLive: true });
    const alone = poolOf();
    for (let exits = 1; exits <= 12; exits++) {
      for (const { end } of [living, alone]) {
        end();
        if (exits < 12) vi.runAllTimers();
      }
    }
    expect(pauseOf(living.pool)).toEqual({ exits: 12, nextStartInMs: 2_000 });
    expect(living.failed).toEqual([]);
    expect(pauseOf(alone.pool)).toEqual({ exits: 12, nextStartInMs: 0 });
    expect(alone.failed).toEqual([why, why, why, why]);
  });

  test("a pool reports no pause after a call was answered, and then counts from one again", () => {
    const { pool, task, end, workers } = poolOf();
    end();
    end();
    task.ok++;
    expect(pauseOf(pool)).toBeUndefined();
    expect(workers.restartTimer).toBeDefined();
    vi.runAllTimers();
    end();
    expect(pauseOf(pool)).toEqual({ exits: 1, nextStartInMs: 0 });
  });
});

function estimateOf(...samplesUs: number[]): Estimate {
  const estimate = new Estimate();
  for (const us of samplesUs) estimate.add(us);
  return estimate;
}

const eight = (us: number): Estimate => estimateOf(...new Array<number>(8).fill(us));

/** Creates workers and calls with the properties that the choice of a worker reads. */
const worker = (
  over: { state?: string; load?: number; guarded?: number; busyUs?: number; movedMs?: number; tasksRun?: number } = {},
): PoolWorker => {
  const { state = "ready", ...rest } = over;
  return { life: { state }, load: 0, guarded: 0, busyUs: 0, movedMs: clock(), tasksRun: 0, ...rest } as never;
};
const call = (estimate: Estimate, guarded = false): PoolCall =>
  ({ guarded, task: { estimate } }) as unknown as PoolCall;

describe("the estimate of a task", () => {
  test("is unknown until the task has run eight times", () => {
    expect(estimateOf(1, 1, 1, 1, 1, 1, 1).meanUs).toBeUndefined();
    expect(estimateOf(1, 1, 1, 1, 1, 1, 1).short).toBe(false);
    expect(eight(10).meanUs).toBeCloseTo(10);
    expect(eight(10).short).toBe(true);
  });

  test("is long when every run took more than 200 us, until one takes less", () => {
    expect(estimateOf().long).toBe(false);
    expect(estimateOf(5000).long).toBe(true);
    expect(estimateOf(5000, 150).long).toBe(false);
    // A task that was short once counts as long again after some long runs.
    expect(estimateOf(150, ...new Array<number>(20).fill(5000)).long).toBe(true);
  });

  test("stays between the task's minimum and maximum, and is at least half a microsecond", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 8, maxLength: 200 }), (samples) => {
        const { meanUs } = estimateOf(...samples);
        expect(meanUs).toBeGreaterThanOrEqual(Math.max(0.5, Math.min(...samples) - 1e-6));
        expect(meanUs).toBeLessThanOrEqual(Math.max(0.5, Math.max(...samples) + 1e-6));
      }),
    );
  });

  test("includes one slow run for a while", () => {
    const estimate = eight(10);
    estimate.add(1_100);
    for (let turn = 0; turn < 5; turn++) estimate.add(10);
    expect(estimate.short).toBe(false);
    for (let turn = 0; turn < 200; turn++) estimate.add(10);
    expect(estimate.short).toBe(true);
  });

  test("allows sending ahead within the budget of a millisecond", () => {
    expect(mayGoAhead(eight(100), 899)).toBe(true);
    expect(mayGoAhead(eight(100), 901)).toBe(false);
    expect(mayGoAhead(eight(300), 0)).toBe(false);
    expect(mayGoAhead(new Estimate(), 0)).toBe(false);
  });
});

describe("the choice of a worker", () => {
  test("gives no call to a worker that is not ready", () => {
    for (const state of ["starting", "draining", "closing", "gone"]) {
      expect(accepts(worker({ state }), call(eight(1)), 8)).toBe(false);
    }
  });

  test("fills a worker up to its concurrency", () => {
    const unknown = call(new Estimate());
    expect(accepts(worker({ load: 1 }), unknown, 2)).toBe(true);
    expect(accepts(worker({ load: 2 }), unknown, 2)).toBe(false);
  });

  test("sends short calls ahead, but not a call that may be killed, nor a call behind one", () => {
    onTestFinished(fakeClock(() => 100));
    expect(accepts(worker({ load: 1 }), call(eight(10)), 1)).toBe(true);
    expect(accepts(worker({ load: 1 }), call(eight(10), true), 1)).toBe(false);
    expect(accepts(worker({ load: 1, guarded: 1 }), call(eight(10)), 1)).toBe(false);
    expect(accepts(worker({ load: 9, busyUs: 995 }), call(eight(10)), 1)).toBe(false);
  });

  test("sends nothing ahead to a worker that has ended no call for a while, and rather wakes another", () => {
    onTestFinished(fakeClock(() => 100));
    const short = call(eight(10));
    expect(accepts(worker({ load: 1, movedMs: 85 }), short, 1)).toBe(true);
    expect(accepts(worker({ load: 1, movedMs: 84.9 }), short, 1)).toBe(false);
    expect(accepts(worker({ load: 1, movedMs: 0 }), short, 2)).toBe(true);
    const asleep = worker();
    const awake = worker({ load: 1, busyUs: 10, movedMs: 99 });
    expect(choose([asleep, awake], short, 1)).toBe(awake);
    expect(choose([worker({ load: 1, busyUs: 10, movedMs: 98.9 }), asleep], short, 1)).toBe(asleep);
  });

  test("adds a short call to a worker that is awake before it wakes another", () => {
    onTestFinished(fakeClock(() => 100));
    const awake = worker({ load: 1, busyUs: 10 });
    expect(choose([worker(), awake], call(eight(5)), 1)).toBe(awake);
    const busy = worker({ load: 9, busyUs: 60 });
    const asleep = worker();
    expect(choose([busy, asleep], call(eight(5)), 1)).toBe(asleep);
  });

  test("otherwise takes the worker with the lowest load, and among equals the one with the most runs", () => {
    const used = worker({ tasksRun: 5 });
    expect(choose([worker({ load: 1 }), worker(), undefined, used], call(new Estimate()), 4)).toBe(used);
    expect(choose([worker({ load: 1 })], call(new Estimate()), 1)).toBeUndefined();
  });

  test("gives a key the same place every time, and spreads keys over all places", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer()), fc.integer({ min: 1, max: 64 }), (key, places) => {
        const at = workerIndexOf(key, places);
        expect(at).toBe(workerIndexOf(key, places));
        expect(Number.isInteger(at) && at >= 0 && at < places).toBe(true);
      }),
    );
    const hit = new Set(Array.from({ length: 200 }, (_, key) => workerIndexOf(`user-${key}`, 8)));
    expect(hit.size).toBe(8);
  });
});

describe("a frame of a hostile worker", () => {
  test.each([
    [Op.Result, 1, undefined, Number.POSITIVE_INFINITY],
    [Op.Chunk, 1, undefined, Number.NaN],
    [Op.Sliced, 1, 2, [Op.Result, Number.POSITIVE_INFINITY]],
    [Op.Heap, 0, Number.POSITIVE_INFINITY, undefined],
  ])("is refused for a time or a size that is no finite number: %s", (op, id, a, b) => {
    expect(isFromWorker(op, id, a, b)).toBe(false);
  });

  test("is counted under `other` for a code that is no text, and after 256 codes", () => {
    const task = new PoolTask("task");
    const withCode = (code: unknown) => Object.assign(new ClearwayError("timeout", ""), { code });
    task.countError(withCode({ toString: 1 }));
    for (let n = 0; n < 1000; n++) task.countError(withCode(`code ${n}`));
    task.countError(withCode("code 7"));
    const { errors } = task;
    expect([errors.size, errors.get("other"), errors.get("code 7")]).toEqual([256, 746, 2]);
  });
});
