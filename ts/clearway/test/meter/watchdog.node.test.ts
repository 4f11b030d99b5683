// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type WatchdogData, type WatchdogMessage, watchdog } from "../../src/meter/host/node-watchdog.js";

/** Runs a watchdog on a fake clock, in this thread. Returns the types of its messages, and the answer of the watched thread. */
function start(uptimeMs: number) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "hrtime"] });
  onTestFinished(() => void vi.useRealTimers());
  const baseNs = process.hrtime.bigint() - BigInt(uptimeMs) * 1_000_000n;
  const shared = Int32Array.of(0, 1);
  const answer = (): void => {
    shared[0] = Number(process.hrtime.bigint() - baseNs) / 1e6;
  };
  answer();
  const workerData: WatchdogData = {
    shared,
    baseNs,
    tickMs: 10,
    sampleAfterMs: 20,
    sampleEveryMs: 10,
    samplesMax: 40,
    framesMax: 32,
  };
  const types: string[] = [];
  const parentPort = { postMessage: ({ type }: WatchdogMessage) => types.push(type) };
  class Session {
    connectToMainThread(): void {}
    post(_method: string, _parameters: object, done: (error: null, answer: object) => void): void {
      done(null, { result: { value: "Error\n    at app" } });
    }
    disconnect(): void {}
  }
  watchdog((name) => (name === "node:inspector" ? { Session } : { workerData, parentPort }));
  return { types, answer };
}

describe.each([
  ["a minute", 60_000],
  ["25 days", 2 ** 31],
  ["50 days", 2 ** 32],
])("the watchdog, after %s of uptime,", (_, uptimeMs) => {
  test("samples no stack while the thread answers", () => {
    const { types, answer } = start(uptimeMs);
    for (let turn = 0; turn < 10; turn++) {
      vi.advanceTimersByTime(10);
      answer();
    }
    expect(types).toEqual(["ready"]);
  });

  test("samples the stack of a thread that does not answer, once per interval", () => {
    const { types } = start(uptimeMs);
    vi.advanceTimersByTime(50);
    expect(types).toEqual(["ready", "stack", "stack", "stack"]);
  });
});
