// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { limited, type OpenCall, OpenCalls } from "../../src/durable/open-calls.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";

beforeEach(() => {
  useFakeTimers();
});
afterEach(() => {
  useRealTimers();
});

function open(calls: OpenCalls, id: string) {
  const log: unknown[] = [];
  const call: OpenCall = {
    resolve: (value) => log.push(value),
    fail: (reason) => log.push((reason as { code?: string }).code ?? reason),
    atMs: performance.now(),
    release: () => log.push("released"),
    stored: undefined,
    cancelled: false,
  };
  calls.add(id, call);
  return { log, call };
}

describe("the open calls of a caller", () => {
  test("settle once, and end their timers", () => {
    const calls = new OpenCalls();
    const { log } = open(calls, "a");
    expect(calls.settle("a", "ok", (call) => call.resolve(1))).toBe(true);
    expect(calls.settle("a", "failed", (call) => call.fail("late"))).toBe(false);
    expect(log).toEqual(["released", 1]);
    expect(calls.counters).toEqual({ ok: 1, failed: 0, cancelled: 0 });
  });

  test("fail when they are older than the servers keep them, the others stay", () => {
    const calls = new OpenCalls();
    const { log: old } = open(calls, "old");
    vi.advanceTimersByTime(900);
    const { log: recent } = open(calls, "recent");
    calls.failOld(1_000);
    expect(old).toEqual([]);
    vi.advanceTimersByTime(200);
    calls.failOld(1_000);
    expect([old, recent]).toEqual([["released", "deadline"], []]);
    expect(calls.size).toBe(1);
  });

  test("are awaited until the last one has ended, or until the time is over", async () => {
    const calls = new OpenCalls();
    await calls.empty(1_000);
    open(calls, "a");
    const empty = calls.empty(1_000);
    calls.settle("a", "ok", () => {});
    await empty;
    open(calls, "b");
    const late = calls.empty(1_000);
    vi.advanceTimersByTime(1_000);
    await late;
    expect(calls.size).toBe(1);
  });

  test("all fail at the end of the pool", () => {
    const calls = new OpenCalls();
    const logs = ["a", "b"].map((id) => open(calls, id).log);
    calls.failAll("end");
    expect(logs).toEqual([
      ["released", "end"],
      ["released", "end"],
    ]);
  });
});

describe("the limits of a call", () => {
  test("cancel it with the signal's reason, or with deadline", async () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    limited({ signal: controller.signal, deadlineMs: 100 }, (reason) => reasons.push(reason));
    controller.abort("why");
    await vi.advanceTimersByTimeAsync(100);
    expect(reasons).toEqual(["why", expect.objectContaining({ code: "deadline" })]);
  });

  test("end with their release", () => {
    const reasons: unknown[] = [];
    const controller = new AbortController();
    limited({ signal: controller.signal, deadlineMs: 100 }, (reason) => reasons.push(reason))?.();
    controller.abort();
    vi.advanceTimersByTime(100);
    expect(reasons).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("are none without a signal and a deadline, and a deadline beyond Node's timers is none", () => {
    expect(limited({}, () => {})).toBeUndefined();
    limited({ deadlineMs: 2 ** 40 }, () => {});
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ["has aborted", { aborted: true, reason: "why", addEventListener() {} }, "why"],
    [
      "cannot take a listener",
      { addEventListener: () => expect.fail("why") },
      expect.objectContaining({ message: "why" }),
    ],
  ])("cancel it at once when its signal %s", (_what, signal, reason) => {
    const reasons: unknown[] = [];
    const release = limited({ signal: signal as unknown as AbortSignal }, (each) => reasons.push(each));
    expect(reasons).toEqual([reason]);
    release?.();
  });

  test("end also when the signal cannot forget a listener", () => {
    const calls = new OpenCalls();
    const { log, call } = open(calls, "a");
    const signal = { aborted: false, addEventListener() {} } as unknown as AbortSignal;
    call.release = limited({ signal, deadlineMs: 100 }, () => {});
    calls.settle("a", "ok", () => log.push("settled"));
    expect(log).toEqual(["settled"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
