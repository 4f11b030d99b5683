// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { iteratorOf, Producer, type ProducerWire } from "../../src/stream/producer.js";
import fc from "../fixtures/fast-check.js";
import { follow, followSync, Log, settle } from "./timeline.js";

const plenty = 1e9;

function wireTo(log: Log, bytes = 1, refuses?: string): ProducerWire {
  return {
    chunk: (value) => {
      if (value === refuses) throw new Error("refused");
      log.add(String(value));
      return bytes;
    },
    transport: { scheduled: false, flush: () => {}, hurry: () => {} },
    end: () => log.add("|"),
    fail: () => log.add("x"),
  };
}

const kinds = [
  ["an async generator", follow],
  ["a sync generator", followSync],
] as const;

describe.each(kinds)("the sending half of a stream, drawing from %s", (_name, make) => {
  test("draws nothing before the first credit, and nothing beyond the credit", async () => {
    const log = new Log();
    const producer = new Producer(make("abcde|", log), wireTo(log));
    await settle();
    expect(log.text).toBe("");
    producer.grant(2, plenty);
    await settle();
    expect(log.text).toBe("ab");
    producer.grant(1, plenty);
    await settle();
    expect(log.text).toBe("abc");
    producer.grant(9, plenty);
    await settle();
    expect(log.text).toBe("abcdef|");
    expect(producer.over).toBe(true);
  });

  test("also stops at the limit in bytes, which one value may exceed", async () => {
    const log = new Log();
    const producer = new Producer(make("abc|", log), wireTo(log, 100));
    producer.grant(9, 150);
    await settle();
    expect(log.text).toBe("ab");
    producer.grant(0, 50);
    await settle();
    expect(log.text).toBe("ab");
    producer.grant(0, 1);
    await settle();
    expect(log.text).toBe("abc");
  });

  test.each([
    ["|", 1, "f|"],
    ["x", 1, "fx"],
    ["ab|", 9, "abf|"],
    ["abx", 9, "abfx"],
    ["ab|", 2, "ab"],
  ])("plays %s with %i credits as %s", async (timeline, credits, told) => {
    const log = new Log();
    new Producer(make(timeline, log), wireTo(log)).grant(credits, plenty);
    await settle();
    expect(log.text).toBe(told);
  });

  test("runs the iterator's finally block when it is stopped, then ends", async () => {
    const log = new Log();
    const producer = new Producer(make("abcde|", log), wireTo(log));
    producer.grant(2, plenty);
    await settle();
    producer.stop();
    producer.stop();
    producer.grant(9, plenty);
    await settle();
    expect(log.text).toBe("abf|");
  });

  test("ends without running the iterator when it is stopped before its first credit", async () => {
    const log = new Log();
    new Producer(make("abc|", log), wireTo(log)).stop();
    await settle();
    expect(log.text).toBe("|");
  });

  test("closes the iterator and fails when a value cannot cross", async () => {
    const log = new Log();
    new Producer(make("abc|", log), wireTo(log, 1, "b")).grant(9, plenty);
    await settle();
    expect(log.text).toBe("afx");
  });

  test("ends exactly once, after the finally block, at any order of grants and stops", async () => {
    const steps = fc.array(fc.constantFrom("grant", "stop", "turn"), { maxLength: 12 });
    const timelines = fc.stringMatching(/^[abc]{0,6}[|x]$/);
    await fc.assert(
      fc.asyncProperty(timelines, steps, async (timeline, order) => {
        const log = new Log();
        const producer = new Producer(make(timeline, log), wireTo(log));
        for (const step of order) {
          if (step === "grant") producer.grant(1, plenty);
          else if (step === "stop") producer.stop();
          else await Promise.resolve();
        }
        producer.grant(99, plenty);
        await settle();
        expect(log.text).toMatch(/^[abc]*f?[|x]$/);
        if (/[abc]/.test(log.text)) expect(log.text).toContain("f");
      }),
    );
  });
});

describe("the sending half of a stream", () => {
  test("fails with an error of the iterator's finally block", async () => {
    const log = new Log();
    const iterator = (async function* () {
      try {
        yield "a";
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: the test needs it
        throw new Error("in finally");
      }
    })();
    const producer = new Producer(iterator, wireTo(log));
    producer.grant(1, plenty);
    await settle();
    producer.stop();
    await settle();
    expect(log.text).toBe("ax");
  });

  test("fails with the value's own error even when its iterator closes slowly and more credit arrives meanwhile", async () => {
    let release!: () => void;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reasons: unknown[] = [];
    const log = new Log();
    const iterator = (async function* () {
      try {
        yield "b";
      } finally {
        await slow;
      }
    })();
    const producer = new Producer(iterator, { ...wireTo(log, 1, "b"), fail: (reason) => reasons.push(reason) });
    producer.grant(1, plenty);
    await settle();
    producer.grant(1, plenty);
    producer.stop();
    release();
    await settle();
    expect(log.text).toBe("");
    expect(reasons).toEqual([new Error("refused")]);
  });

  test("stops during a pending value: drops the value, and runs the finally block", async () => {
    let release!: (value: string) => void;
    const log = new Log();
    const iterator = (async function* () {
      try {
        yield await new Promise<string>((resolve) => {
          release = resolve;
        });
      } finally {
        log.add("f");
      }
    })();
    const producer = new Producer(iterator, wireTo(log));
    producer.grant(5, plenty);
    await settle();
    producer.stop();
    await settle();
    expect(log.text).toBe("");
    release("a");
    await settle();
    expect(log.text).toBe("f|");
  });

  test("stopped without waiting, runs the finally block first when the iterator has a value", async () => {
    const log = new Log();
    const producer = new Producer(follow("abc|", log), wireTo(log));
    producer.grant(5, plenty);
    // The iterator's first `next()` is pending, for three microtasks.
    producer.stop(true);
    await settle();
    expect(log.text).toBe("f|");
  });

  test("stopped without waiting, closes an iterator whose next() never settles, and ends once", async () => {
    const log = new Log();
    const never = { next: () => new Promise<IteratorResult<unknown>>(() => {}), return: () => log.add("r") };
    const producer = new Producer(never as unknown as AsyncIterator<unknown, unknown, void>, wireTo(log));
    producer.grant(5, plenty);
    await settle();
    producer.stop(true);
    producer.stop(true);
    await settle();
    expect(log.text).toBe("r|");
    expect(producer.over).toBe(true);
  });

  test.each([undefined, 5, "text"])("fails when next() gives %s, and not an object", async (step) => {
    for (const next of [() => step, async () => step]) {
      const reasons: unknown[] = [];
      const wire = { ...wireTo(new Log()), fail: (reason: unknown) => reasons.push(reason) };
      new Producer({ next } as never, wire as unknown as ProducerWire).grant(5, plenty);
      await settle();
      expect(reasons).toEqual([expect.any(TypeError)]);
    }
  });

  test("draws from any iterable except strings", () => {
    expect(iteratorOf([1])?.next()).toEqual({ done: false, value: 1 });
    expect(iteratorOf(new Set([1]))).toBeDefined();
    expect(iteratorOf("ab")).toBeUndefined();
    expect(iteratorOf(null)).toBeUndefined();
    expect(iteratorOf({})).toBeUndefined();
  });
});

describe("a producer whose iterator is synchronous", () => {
  test("hands over each value at once, because the turn does not end meanwhile", async () => {
    const log = new Log();
    const transport = { scheduled: false, flush: () => {}, hurry: () => log.add("!") };
    new Producer("abcd"[Symbol.iterator](), { ...wireTo(log), transport }).grant(9, plenty);
    await settle();
    expect(log.text).toBe("a!b!c!d!|");
  });
});
