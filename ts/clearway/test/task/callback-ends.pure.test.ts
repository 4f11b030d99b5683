// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { callback } from "../../src/callback.js";
import { ClearwayError } from "../../src/error/clearway-error.js";
import { CallbackStub } from "../../src/task/callback-stub.js";
import { Progress, progressWindow, unitsOf } from "../../src/task/context.js";
import { emptySide } from "../../src/transfer/ledger.js";
import { type CallbackAnswer, callbackEnd } from "../../src/transport/callback.js";
import type { PortTransport } from "../../src/transport/port.js";
import { Op } from "../../src/transport/protocol.js";
import fc from "../fixtures/fast-check.js";

type Sent = [op: Op, id: number, a: unknown];

/** The two ends of a callback, with a transport that only records. `deliver` passes the task's calls on. */
function ends(fn: (...args: unknown[]) => unknown, concurrency = 64) {
  const sent: Sent[] = [];
  const transport = {
    send: (op: Op, id: number, a: unknown) => void sent.push([op, id, a]),
    sendByRing: () => false,
    flush: () => {},
    hurry: () => {},
  } as unknown as PortTransport;
  const stub = new CallbackStub(transport, 7, concurrency, false);
  const marked = callback(fn, { concurrency }) as unknown as AsyncIterable<never>;
  const iterator = marked[Symbol.asyncIterator]();
  const session = callbackEnd(iterator)!;
  const failures: unknown[] = [];
  const answers: CallbackAnswer[] = [];
  session.connect({
    strict: false,
    ledger: emptySide(),
    answer: (message) => void answers.push(message),
    fail: (reason) => void failures.push(reason),
  });
  const calls = (): unknown[] => sent.filter(([op]) => op === Op.Chunk).map(([, , a]) => a);
  return { stub, session, iterator, sent, calls, answers, failures };
}

const settled = async (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (reason) => ({ reason }),
  );

describe("the task's end of a callback", () => {
  test("numbers its calls, and settles each with its answer in any order", async () => {
    const { stub, calls } = ends(() => {});
    const [one, two] = [stub.call("a"), stub.call("b", 2)];
    expect(calls()).toEqual([
      [1, ["a"]],
      [2, ["b", 2]],
    ]);
    stub.arrived([2, "second"]);
    stub.arrived([1, undefined, { value: "thrown" }]);
    expect(await settled(two)).toEqual({ value: "second" });
    expect(await settled(one)).toEqual({ reason: "thrown" });
  });

  test("sends no more calls than its concurrency, and the others in order as answers arrive", () => {
    const { stub, calls } = ends(() => {}, 2);
    for (let at = 0; at < 5; at++) void stub.call(at);
    expect(calls()).toHaveLength(2);
    stub.arrived([2, undefined]);
    stub.arrived([1, undefined]);
    expect(calls()).toEqual([1, 2, 3, 4].map((call) => [call, [call - 1]]));
    stub.arrived([9, undefined]);
    expect(calls()).toHaveLength(4);
  });

  test("takes no calls once it finishes, and finishes when all calls are sent", async () => {
    const { stub, calls } = ends(() => {}, 1);
    expect(ends(() => {}).stub.finish()).toBeUndefined();
    for (let at = 0; at < 3; at++) void stub.call(at);
    let done = false;
    const finished = stub.finish()!.then(() => {
      done = true;
    });
    expect(await settled(stub.call("late"))).toMatchObject({ reason: { code: "callback-ended" } });
    stub.arrived([1, undefined]);
    await Promise.resolve();
    expect(done).toBe(false);
    stub.arrived([2, undefined]);
    await finished;
    expect(calls()).toHaveLength(3);
  });

  test("rejects sent, waiting and later calls with the reason when its call is cancelled, and finishes", async () => {
    const { stub } = ends(() => {}, 1);
    const calls = [stub.call(1), stub.call(2)];
    const finished = stub.finish();
    const reason = new RangeError("enough");
    stub.failed(reason);
    await finished;
    for (const call of [...calls, stub.call(3)]) expect(await settled(call)).toEqual({ reason });
  });

  test("takes back the ledger's bytes of a call that could not be sent, and goes on", async () => {
    const { stub, sent, calls } = ends(() => {}, 1);
    const [refused, next] = [stub.call(new Uint8Array(1000)), stub.call("next")];
    const ledger = (): unknown[] => sent.filter(([op]) => op === Op.Ledger).map(([, , a]) => a);
    expect(ledger()).toMatchObject([{ copiedBytes: 1000 }]);
    stub.refused(calls()[0], new Error("no"));
    expect(ledger()).toMatchObject([{ copiedBytes: 1000 }, { copiedBytes: -1000 }]);
    expect(await settled(refused)).toMatchObject({ reason: { code: "not-cloneable" } });
    expect(calls()[1]).toEqual([2, ["next"]]);
    stub.arrived([2, "answer"]);
    expect(await next).toBe("answer");
  });
});

describe("the caller's end of a callback", () => {
  test("runs the function for each message, and answers once", () => {
    const seen: unknown[] = [];
    const { session, answers } = ends((...args) => seen.push(args));
    session.called([1, ["a", 1]]);
    session.called([2, []]);
    expect(seen).toEqual([["a", 1], []]);
    expect(answers).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test.each([
    ["no list", 5],
    ["null", null],
    ["no number", ["x", []]],
    ["no arguments", [1]],
    ["arguments that are no list", [1, { length: 2 }]],
    ["a number that is not finite", [Number.NaN, []]],
  ])("fails its call with protocol for a message with %s, and runs nothing", (_what, message) => {
    let runs = 0;
    const { session, failures } = ends(() => runs++);
    session.called(message);
    expect(failures).toMatchObject([{ code: "protocol" }]);
    expect(runs).toBe(0);
  });

  test("fails its call with protocol for more calls than its concurrency, and for a number that is open", () => {
    let runs = 0;
    const hangs = () => {
      runs++;
      return new Promise(() => {});
    };
    const { session, failures } = ends(hangs, 2);
    session.called([1, []]);
    session.called([1, []]);
    expect(failures).toHaveLength(1);
    session.called([2, []]);
    session.called([3, []]);
    expect(failures).toHaveLength(2);
    expect(failures[1]).toBeInstanceOf(ClearwayError);
    expect(runs).toBe(2);
  });

  test("runs and answers nothing once its call is over, also if the function itself ended the call", async () => {
    let stop = (): void => {};
    let runs = 0;
    const { session, answers, failures } = ends(() => {
      runs++;
      stop();
    });
    stop = () => session.producer.stop();
    session.called([1, []]);
    session.called([2, []]);
    session.called("garbage");
    await Promise.resolve();
    expect({ runs, answers, failures }).toEqual({ runs: 1, answers: [], failures: [] });
  });

  test("answers with an error if its value could not be sent", () => {
    const { session, answers } = ends(() => "value");
    session.called([1, []]);
    session.refuse(answers[0], new Error("not today"));
    expect(answers[1]).toMatchObject([
      1,
      undefined,
      { base: "ClearwayError", message: expect.stringContaining("not today") },
    ]);
  });

  test("is empty for a reader that takes it for a stream", async () => {
    const { session, iterator, answers } = ends(() => {});
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    session.called([1, []]);
    expect(answers).toEqual([]);
  });
});

// Creates the progress of a call, with a clock and an event loop that advance on demand.
function made(units = (_value: unknown) => 1) {
  const sent: unknown[] = [];
  let turns: (() => void)[] = [];
  const clock = { nowMs: 0 };
  const progress = new Progress(
    (value) => {
      sent.push(value);
      return units(value);
    },
    { nowMs: () => clock.nowMs, afterMessages: (next) => void turns.push(next) },
  );
  const turn = (): void => {
    const due = turns;
    turns = [];
    for (const next of due) next();
  };
  const fill = (): void => {
    for (let at = 0; at < progressWindow; at++) progress.report(at);
    sent.length = 0;
  };
  return { progress, sent, clock, turn, fill, asked: () => turns.length };
}

describe("a call's progress", () => {
  test("is sent value by value, in order, while the window has room", () => {
    const { progress, sent } = made();
    for (let at = 0; at < progressWindow; at++) progress.report(at);
    expect(sent).toEqual(Array.from({ length: progressWindow }, (_, at) => at));
    progress.report("more");
    expect(sent).toHaveLength(progressWindow);
  });

  test("keeps only the newest value when the window is full, and sends it after a read", () => {
    const { progress, sent, fill, turn } = made();
    fill();
    for (const value of ["a", "b", "c"]) {
      progress.report(value);
      turn();
    }
    expect(sent).toEqual([]);
    progress.read(2);
    expect(sent).toEqual(["c"]);
    progress.report("d");
    progress.report("e");
    turn();
    expect(sent).toEqual(["c", "d"]);
  });

  test("sends its last value before the call's result, even when nothing was read", () => {
    const { progress, sent, fill } = made();
    fill();
    progress.report("a");
    progress.report("b");
    progress.last();
    progress.last();
    expect(sent).toEqual(["b"]);
  });

  test("is not sent beyond the window while the listener reads nothing and the loop handles messages, for any time", () => {
    const { progress, sent, fill, turn, clock } = made();
    fill();
    for (let at = 0; at < 100; at++) {
      progress.report(at);
      clock.nowMs += 60_000;
      turn();
    }
    expect(sent).toEqual([]);
  });

  test("is sent ten times per second by a loop that handles no messages", () => {
    const { progress, sent, fill, clock, asked } = made();
    fill();
    for (; clock.nowMs <= 1000; clock.nowMs++) progress.report(clock.nowMs);
    expect(sent).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    expect(asked()).toBe(1);
  });

  test("also limits the size of values, which one value may exceed", () => {
    const { progress, sent } = made((value) => value as number);
    progress.report(progressWindow * 3);
    progress.report(1);
    expect(sent).toEqual([progressWindow * 3]);
    progress.read(progressWindow * 3);
    expect(sent).toEqual([progressWindow * 3, 1]);
  });

  test("never loses its last value or changes the order, at any sequence of reports and reads", () => {
    const steps = fc.array(fc.constantFrom("tell", "read", "turn", "wait"), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (order) => {
        const { progress, sent, turn, clock, fill } = made();
        fill();
        let told = 0;
        for (const step of order) {
          if (step === "tell") progress.report(++told);
          else if (step === "read") progress.read(1);
          else if (step === "turn") turn();
          else clock.nowMs += 40;
        }
        progress.last();
        expect(sent).toEqual([...(sent as number[])].sort((a, b) => a - b));
        expect(new Set(sent).size).toBe(sent.length);
        expect(sent.at(-1)).toBe(told === 0 ? undefined : told);
      }),
    );
  });
});

describe("progress units", () => {
  const cyclic: { self?: unknown; text: string } = { text: "x".repeat(2000) };
  cyclic.self = cyclic;
  test.each([
    ["a number", 5, 1],
    ["a small object", { sentBytes: 1, totalBytes: 2 }, 1],
    ["a text", "x".repeat(5120), 11],
    ["binary memory", new Uint8Array(51_200), 101],
    ["texts in a list, each counted", ["x".repeat(512), "x".repeat(512)], 3],
    ["a map", new Map([["key", "x".repeat(1024)]]), 3],
    ["a cycle", cyclic, 4],
    ["more than the window", "x".repeat(1 << 25), progressWindow + 1],
    ["a list over the limit", new Array(1 << 20).fill("x".repeat(512)), progressWindow + 1],
  ])("of %s depend on its size", (_name, value, units) => {
    expect(unitsOf(value)).toBe(units);
  });

  test("throw the error of a getter in the value", () => {
    const value = {
      get inner() {
        throw new RangeError("not today");
      },
    };
    expect(() => unitsOf(value)).toThrow("not today");
  });
});
