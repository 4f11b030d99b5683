// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of a measurement, its end after a timeout, and the timing of calls, on fake clocks.
import { describe, expect, test } from "vitest";
import { timeCalls } from "../src/bench/calls.js";
import { readDefinition } from "../src/bench/definition.js";
import { choose, verifyWay } from "../src/bench/run-way.js";
import { CLOSING_MS_MAX } from "../src/bench/settings.js";
import { StepError, Steps, type Timers } from "../src/bench/steps.js";
import { requestMsMax } from "../src/runner/user-process.js";

/** A clock that the test moves. Due timers run when it moves. */
class FakeTimers implements Timers {
  ms = 0;
  readonly #waiting = new Set<{ at: number; act: () => void }>();
  nowMs = () => this.ms;
  after = (ms: number, act: () => void) => {
    const timer = { at: this.ms + ms, act };
    this.#waiting.add(timer);
    return () => void this.#waiting.delete(timer);
  };
  get waiting(): number {
    return this.#waiting.size;
  }
  move(ms: number): void {
    this.ms += ms;
    for (const timer of [...this.#waiting].filter(({ at }) => at <= this.ms)) timer.act();
  }
}

describe("Steps", () => {
  test("return a step's value and leave no timer", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(1000, timers);
    expect(await steps.run("setup", async () => 5)).toBe(5);
    expect(timers.waiting).toBe(0);
  });

  test.each<[string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new RangeError("far");
      },
      "setup threw RangeError: far",
    ],
    [
      "throws no error",
      () => {
        throw null;
      },
      "setup threw null",
    ],
    [
      "rejects",
      async () => {
        throw "text";
      },
      'setup threw "text"',
    ],
  ])("reject with the step's name if it %s", async (_, step, message) => {
    const timers = new FakeTimers();
    const failure = await new Steps(1000, timers).run("setup", step).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StepError);
    expect((failure as StepError).message.startsWith(message)).toBe(true);
    expect(timers.waiting).toBe(0);
  });

  test("reject a step that never settles when the time of all steps is over", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(1000, timers);
    await steps.run("setup", () => timers.move(600));
    const hanging = steps.run("a call", () => new Promise(() => {}));
    timers.move(399);
    expect(timers.waiting).toBe(1);
    timers.move(1);
    await expect(hanging).rejects.toThrow("a call had not settled after 1 s; --timeout sets this limit");
    expect(timers.waiting).toBe(0);
  });

  test("give a closing step five seconds, within the time of all steps and after it", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(60_000, timers);
    for (const begin of [0, 60_000]) {
      timers.move(begin - timers.ms);
      let close = (_: string): void => {};
      const closing = steps.runClosing("teardown", () => new Promise<string>((done) => (close = done)));
      // The step starts in a microtask.
      await Promise.resolve();
      timers.move(4999);
      close("closed");
      expect(await closing).toBe("closed");
    }
    expect(timers.waiting).toBe(0);
  });

  test("reject a closing step that never settles after five seconds", async () => {
    const timers = new FakeTimers();
    const hanging = new Steps(60_000, timers).runClosing("teardown", () => new Promise(() => {}));
    timers.move(4999);
    expect(timers.waiting).toBe(1);
    timers.move(1);
    await expect(hanging).rejects.toThrow(/^teardown had not settled after 5 s$/);
    expect(timers.waiting).toBe(0);
  });

  test("give all closing steps together five seconds after the time of all steps", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(1000, timers);
    timers.move(1000);
    const first = steps.runClosing("teardown", () => new Promise(() => {}));
    timers.move(5000);
    await expect(first).rejects.toThrow("teardown had not settled after 5 s");
    const second = steps.runClosing("teardown", () => new Promise(() => {}));
    timers.move(0);
    await expect(second).rejects.toThrow("teardown had not settled after 0 s");
  });

  test("fail the running step with an uncaught error, and no step afterwards", async () => {
    const steps = new Steps(1000, new FakeTimers());
    expect(steps.fail("early")).toBe(false);
    const hanging = steps.run("a call", () => new Promise(() => {}));
    expect(steps.fail(new Error("in a timer"))).toBe(true);
    await expect(hanging).rejects.toThrow("an error outside its calls was not caught: Error: in a timer");
    expect(steps.fail("late")).toBe(false);
  });
});

describe("a way whose call takes too long", () => {
  test("is reported after its teardown, which gets five seconds", async () => {
    const timers = new FakeTimers();
    const events: string[] = [];
    let close = (): void => {};
    const ways = {
      stuck: {
        run: () => new Promise(() => queueMicrotask(() => timers.move(1000))),
        teardown: () => new Promise<void>((done) => (close = done)),
      },
    };
    const chosen = choose(readDefinition({ default: ways }), "stuck", undefined, new Steps(1000, timers));
    const verified = verifyWay(chosen, undefined).catch((error: Error) => void events.push(error.message));
    // Everything that is not waiting for the clock has run after a turn of the event loop.
    await new Promise(setImmediate);
    timers.move(4999);
    await new Promise(setImmediate);
    events.push("closed");
    close();
    await verified;
    expect(events).toEqual(["closed", "the first call had not settled after 1 s; --timeout sets this limit"]);
  });

  test("is waited for until its teardown must have ended", () => {
    expect(requestMsMax(1000)).toBeGreaterThan(1000 + CLOSING_MS_MAX);
  });
});

describe("timeCalls", () => {
  /** A way whose calls take the given times on a fake clock; the last one repeats. */
  function fake(times: number[], isFresh = false) {
    const state = { ms: 0, calls: 0, inputs: 0 };
    const call = () => {
      state.ms += times[Math.min(state.calls, times.length - 1)] as number;
      state.calls++;
    };
    const input = () => {
      state.inputs++;
      if (isFresh) state.ms += 100;
    };
    return { state, way: { input, isFresh, call }, clock: () => state.ms };
  }

  test("times single calls until their time is over, after 200 ms without a gain", async () => {
    const { state, way, clock } = fake([50]);
    const timed = await timeCalls(way, 120, clock);
    // The first call sets the pace; four more show no gain. Then three calls exceed 120 ms.
    expect(timed).toEqual({ ns: [50e6, 50e6, 50e6], batch: 1, warmUpMs: 250, isWarm: true, isCut: false });
    expect(state.calls).toBe(8);
  });

  test("times calls that take less than 0.05 ms together", async () => {
    const { way, clock } = fake([0.01]);
    const { batch, ns, isWarm } = await timeCalls(way, 1, clock);
    expect({ batch, isWarm }).toEqual({ batch: 5, isWarm: true });
    for (const each of ns) expect(each).toBeCloseTo(10_000);
  });

  test("leaves the time that an input takes out, and makes one for each call", async () => {
    const { state, way, clock } = fake([50], true);
    const { ns, batch } = await timeCalls(way, 100, clock);
    expect({ ns, batch }).toEqual({ ns: [50e6, 50e6], batch: 1 });
    expect(state.inputs).toBe(state.calls);
  });

  test("ends when making inputs has taken five times as long, or a second, however short the calls are", async () => {
    const { state, way, clock } = fake([0.01], true);
    const { ns, isCut } = await timeCalls(way, 100, clock);
    // An input takes 100 ms: ten calls and one more to warm up, and ten that are timed.
    expect({ samples: ns.length, isCut, inputs: state.inputs }).toEqual({ samples: 10, isCut: true, inputs: 21 });
  });

  test("calls with the value of a shared input that is a promise", async () => {
    const { state, way, clock } = fake([50]);
    const given = new Set<unknown>();
    const call = (input: unknown) => {
      given.add(input);
      way.call();
    };
    await timeCalls({ input: () => Promise.resolve(7), isFresh: false, call }, 100, clock);
    expect(state.calls).toBeGreaterThan(0);
    expect([...given]).toEqual([7]);
  });

  test("reports a warm-up that ended while calls still became faster", async () => {
    const { way, clock } = fake([700, 600, 500, 400]);
    expect(await timeCalls(way, 100, clock)).toMatchObject({ isWarm: false, warmUpMs: 1300 });
  });

  test("compares a very slow first call with a second one", async () => {
    const { way, clock } = fake([5000]);
    expect(await timeCalls(way, 100, clock)).toMatchObject({ isWarm: true, ns: [5e9] });
  });

  test("rejects with the error of a failed call", async () => {
    const call = () => Promise.reject(new Error("no"));
    await expect(timeCalls({ input: () => 1, isFresh: false, call }, 10, () => 0)).rejects.toThrow("no");
  });
});
