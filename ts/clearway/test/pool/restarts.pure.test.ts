// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ClearwayError } from "../../src/error/clearway-error.js";
import type { Engine } from "../../src/pool/engine.js";
import { exitedBeforeCall, pauseOf } from "../../src/pool/lifecycle/lost-worker.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";

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
afterEach(() => useRealTimers());

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
