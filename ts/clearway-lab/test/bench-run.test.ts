// SPDX-License-Identifier: MIT OR Apache-2.0
// The steps of a measurement and their end after a timeout, on fake clocks, and the work of an opened way.
import { describe, expect, test } from "vitest";
import { readDefinition } from "../src/bench/definition.js";
import { CLOSING_MS_MAX, StepError, Steps, type Timers } from "../src/bench/steps.js";
import { choose, openWay, verifyWay } from "../src/bench/ways.js";
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
    for (const timer of [...this.#waiting].filter(({ at }) => at <= this.ms)) {
      this.#waiting.delete(timer);
      timer.act();
    }
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

  test("give the next steps the whole time again after a restart", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(1000, timers);
    timers.move(900);
    steps.restart();
    const hanging = steps.run("a call", () => new Promise(() => {}));
    timers.move(999);
    expect(timers.waiting).toBe(1);
    timers.move(1);
    await expect(hanging).rejects.toThrow("a call had not settled after 1 s");
  });

  test("give a running step the whole time again after a restart", async () => {
    const timers = new FakeTimers();
    const steps = new Steps(1000, timers);
    const hanging = steps.run("a call", () => new Promise(() => {}));
    timers.move(900);
    steps.restart();
    timers.move(999);
    expect(timers.waiting).toBe(1);
    timers.move(1);
    await expect(hanging).rejects.toThrow("a call had not settled after 1 s");
    expect(timers.waiting).toBe(0);
  });

  test("fail an outer step with an uncaught error after an inner step has ended", async () => {
    const steps = new Steps(1000, new FakeTimers());
    const outer = steps.run("a call", async () => {
      await steps.run("making the input", () => 1);
      expect(steps.fail("later")).toBe(true);
      return new Promise(() => {});
    });
    await expect(outer).rejects.toThrow("an error outside its calls was not caught");
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

describe("an opened way", () => {
  const steps = () => new Steps(1000, new FakeTimers());
  const open = (scenario: object, way: string, clock?: () => number) =>
    openWay(readDefinition({ default: scenario }), way, steps(), clock);

  test("has two kinds of work for each input: its calls and their stalls", async () => {
    const { works } = await open({ inputs: { a: 1, b: 2 }, direct: (x: number) => x }, "direct");
    expect(Object.keys(works)).toEqual(["calls a", "stalls a", "calls b", "stalls b"]);
  });

  test("times more calls together while a run is too short for the clock", async () => {
    let calls = 0;
    // A call takes 0.01 ms.
    const { works } = await open({ direct: () => ++calls }, "direct", () => calls / 100);
    const work = works["calls "]!;
    const costs: number[] = [];
    for (let runs = 0; runs < 3; runs++) await work.run(costs);
    expect(calls).toBe(1 + 2 + 4);
    expect(costs.map(Math.round)).toEqual([10_000, 10_000, 10_000]);
    await work.run([]);
    expect(work.calls).toBe(8);
  });

  test("whose calls wait 5 ms is measured with --timeout 2s, because each call has the limit for itself", async () => {
    const timers = new FakeTimers();
    const own = new Steps(2000, timers);
    const waits = async () => timers.move(5);
    const { works } = await openWay(readDefinition({ default: { waits } }), "waits", own, timers.nowMs);
    for (const work of [works["calls "]!, works["stalls "]!]) {
      const calls = own.run("a call", async () => {
        for (let runs = 0; runs < 500; runs++) await work.run([]);
      });
      await expect(calls).resolves.toBeUndefined();
    }
  });

  test("makes an input for each call if it is a function", async () => {
    const given: number[] = [];
    let made = 0;
    const { works } = await open({ inputs: { a: () => ++made }, direct: (x: number) => given.push(x) }, "direct");
    for (let runs = 0; runs < 3; runs++) await works["calls a"]!.run([]);
    expect(given).toEqual([1, 2, 3]);
  });

  test("calls with the value of a shared input that is a promise", async () => {
    const given = new Set<unknown>();
    const { works } = await open(
      { inputs: { a: Promise.resolve(7) }, direct: (x: number) => void given.add(x) },
      "direct",
    );
    await works["calls a"]!.run([]);
    expect([...given]).toEqual([7]);
  });

  test("counts a call without a stall as one of a millisecond", async () => {
    const costs: number[] = [];
    const { works } = await open({ direct: () => 1 }, "direct");
    await works["stalls "]!.run(costs);
    expect(costs[0]).toBeGreaterThanOrEqual(1e6);
  });

  test("rejects with the error of a failed call", async () => {
    const fails = async () => {
      throw new TypeError("no");
    };
    const { works } = await open({ fails }, "fails");
    await expect(works["calls "]!.run([])).rejects.toThrow("a call threw TypeError: no");
  });

  test("refuses a last result that differs from the first one, or that `check` refuses", async () => {
    let calls = 0;
    const changing = await open({ changing: () => ++calls }, "changing");
    for (let runs = 0; runs < 2; runs++) await changing.works["calls "]!.run([]);
    await expect(changing.verify("calls ")).rejects.toThrow(/its first result is 1, and its last \d+;/);
    const checked = await open({ wrong: () => 5, check: (result: number) => result === 4 }, "wrong");
    await checked.works["calls "]!.run([]);
    await expect(checked.verify("calls ")).rejects.toThrow("check refused its result: 5");
  });

  test("runs its teardown when it is closed", async () => {
    const closed: unknown[] = [];
    const way = { setup: () => "context", run: () => 1, teardown: (context: unknown) => closed.push(context) };
    await (await open({ way }, "way")).close();
    expect(closed).toEqual(["context"]);
  });
});
