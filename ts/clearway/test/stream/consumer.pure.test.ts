// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Consumer } from "../../src/stream/consumer.js";
import { TurnBudget, turnBudgetMs } from "../../src/transport/turn-budget.js";
import fc from "../fixtures/fast-check.js";
import { FakeTurns } from "./fake-turns.js";
import { Log, settle } from "./timeline.js";

const gaps = { items: 4, bytes: 1000 };

/** Creates a consumer on a wire that only logs: `+n` for a grant of n items, `!` for a request to end the producer. */
function make(window = gaps): { consumer: Consumer; wire: Log; turns: FakeTurns } {
  const wire = new Log();
  const turns = new FakeTurns();
  const consumer = new Consumer(
    window,
    { grant: (items) => wire.add(`+${items}`), cancel: () => wire.add("!") },
    new TurnBudget(turns),
  );
  return { consumer, wire, turns };
}

/** Plays the other side's events from a timeline. */
function play(consumer: Consumer, timeline: string): void {
  for (const event of timeline) {
    if (event === "|") consumer.ended("end");
    else if (event === "x") consumer.failed(new Error("x"));
    else if (event !== "-") consumer.arrived(event, 1);
  }
}

/** Reads to the end, and returns the events as a timeline. */
async function read(consumer: Consumer): Promise<string> {
  let text = "";
  try {
    for (;;) {
      const step = await consumer.next();
      if (step.done) return `${text}|`;
      text += String(step.value);
    }
  } catch {
    return `${text}x`;
  }
}

describe("the receiving half of a stream", () => {
  test("grants nothing before the first next(), then the whole window, then half windows", async () => {
    const { consumer, wire } = make();
    await settle();
    expect(wire.text).toBe("");
    const all = read(consumer);
    play(consumer, "a");
    await settle();
    expect(wire.text).toBe("+4");
    play(consumer, "b-c-d");
    await settle();
    play(consumer, "|");
    expect(await all).toBe("abcd|");
    expect(wire.text).toBe("+4+2+2");
  });

  test.each(["|", "x", "abc|", "abcx", "a|", "ax"])(
    "delivers %s unchanged when it arrived before the reads",
    async (line) => {
      const { consumer } = make({ items: 9, bytes: 1000 });
      const first = consumer.next();
      play(consumer, line);
      const step = await first.catch(() => undefined);
      const head = step === undefined ? "x" : step.done ? "|" : String(step.value);
      expect(head + (head === "|" || head === "x" ? "" : await read(consumer))).toBe(line);
    },
  );

  test("returns the end value once, and undefined afterwards", async () => {
    const { consumer } = make();
    const first = consumer.next();
    play(consumer, "|");
    expect(await first).toEqual({ done: true, value: "end" });
    expect(await consumer.next()).toEqual({ done: true, value: undefined });
  });

  test("rejects with a failure once, after the previous values", async () => {
    const { consumer } = make();
    const first = consumer.next();
    play(consumer, "abx");
    expect((await first).value).toBe("a");
    expect((await consumer.next()).value).toBe("b");
    await expect(consumer.next()).rejects.toThrow("x");
    expect(await consumer.next()).toEqual({ done: true, value: undefined });
  });

  test("answers several pending next() in order", async () => {
    const { consumer } = make();
    const asked = [consumer.next(), consumer.next(), consumer.next()];
    play(consumer, "ab|");
    expect(await Promise.all(asked)).toEqual([
      { done: false, value: "a" },
      { done: false, value: "b" },
      { done: true, value: "end" },
    ]);
  });

  test("ends the producer on return(), drops unread values, and settles after the producer's end", async () => {
    const { consumer, wire } = make();
    const first = consumer.next();
    play(consumer, "abc");
    await first;
    let settled = false;
    const returned = consumer.return("mine").then((step) => {
      settled = true;
      return step;
    });
    play(consumer, "d");
    await settle();
    expect(settled).toBe(false);
    expect(wire.text).toBe("+4!");
    play(consumer, "|");
    expect(await returned).toEqual({ done: true, value: "mine" });
    expect(await consumer.next()).toEqual({ done: true, value: undefined });
  });

  test("grants nothing when return() comes before next()", async () => {
    const { consumer, wire } = make();
    const returned = consumer.return();
    play(consumer, "|");
    await returned;
    expect(wire.text).toBe("!");
  });

  test("settles both a pending next() and the return() after it", async () => {
    const { consumer } = make();
    const next = consumer.next();
    const returned = consumer.return("mine");
    play(consumer, "|");
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await returned).toEqual({ done: true, value: "mine" });
  });

  test("rejects return() with an error of the producer's finally block", async () => {
    const { consumer } = make();
    const first = consumer.next();
    play(consumer, "a");
    await first;
    const returned = consumer.return();
    play(consumer, "x");
    await expect(returned).rejects.toThrow("x");
  });

  test("ends the producer on throw(), then rejects with the reason", async () => {
    const { consumer, wire } = make();
    const thrown = consumer.throw(new RangeError("mine"));
    play(consumer, "|");
    await expect(thrown).rejects.toThrow("mine");
    expect(wire.text).toBe("!");
  });

  test("detects a producer that exceeds the window", () => {
    const { consumer } = make({ items: 2, bytes: 1000 });
    void consumer.next();
    expect(consumer.arrived("a", 0)).toBe(true);
    expect(consumer.arrived("b", 0)).toBe(true);
    expect(consumer.arrived("c", 0)).toBe(true);
    expect(consumer.arrived("d", 0)).toBe(false);
  });

  test("is active while the producer can send without another read", async () => {
    const { consumer } = make({ items: 2, bytes: 1000 });
    expect(consumer.active).toBe(false);
    const first = consumer.next();
    expect(consumer.active).toBe(true);
    play(consumer, "a");
    await first;
    play(consumer, "bc");
    expect(consumer.active).toBe(false);
    await consumer.next();
    expect(consumer.active).toBe(true);
    play(consumer, "|");
    expect(consumer.active).toBe(false);
  });

  test("returns every value in order, at any order of reads and arrivals", async () => {
    const order = fc.array(fc.constantFrom("ask", "arrive", "turn"), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(order, fc.constantFrom("|", "x"), async (steps, end) => {
        const { consumer } = make({ items: 99, bytes: 1e6 });
        const asked = [consumer.next()];
        let sent = 0;
        for (const step of steps) {
          if (step === "ask") asked.push(consumer.next());
          else if (step === "arrive") consumer.arrived(sent++, 0);
          else await Promise.resolve();
        }
        play(consumer, end);
        for (let more = 0; more <= sent; more++) asked.push(consumer.next());
        const steps2 = await Promise.allSettled(asked);
        const values = steps2.flatMap((step) =>
          step.status === "fulfilled" && !step.value.done ? [step.value.value] : [],
        );
        expect(values).toEqual(Array.from({ length: sent }, (_, at) => at));
        expect(steps2.filter((step) => step.status === "rejected")).toHaveLength(end === "x" ? 1 : 0);
      }),
    );
  });
});

describe("a reader of many waiting values", () => {
  const many = { items: 100, bytes: 1000 };

  /** Makes a consumer with these waiting values. Reading each takes `costMs`. Returns what the reader has read. */
  async function reading(timeline: string, costMs: number) {
    const { consumer, turns } = make(many);
    const first = consumer.next();
    play(consumer, `-${timeline}`);
    const log = new Log();
    const all = (async () => {
      for (let step = await first; ; step = await consumer.next()) {
        log.add(step.done ? "|" : String(step.value));
        if (step.done) return;
        turns.nowMs += costMs;
      }
    })();
    await settle();
    return { consumer, turns, log, all };
  }

  test("lets the event loop turn when the turn's time is spent, and goes on in the next turn", async () => {
    const { turns, log, all } = await reading("abcdefg|", turnBudgetMs / 2);
    expect(log.text).toBe("ab");
    turns.turn();
    await settle();
    expect(log.text).toBe("abcd");
    while (turns.turn()) await settle();
    await all;
    expect(log.text).toBe("abcdefg|");
  });

  test("reads one value a turn if the reader takes long for each", async () => {
    const { turns, log } = await reading("abc|", 50);
    for (const text of ["a", "ab", "abc|"]) {
      expect(log.text).toBe(text);
      turns.turn();
      await settle();
    }
  });

  test("shares the time of a turn with the other streams of the thread, and takes turns with them", async () => {
    const turns = new FakeTurns();
    const budget = new TurnBudget(turns);
    const log = new Log();
    for (const values of ["abcd", "mnop"]) {
      const consumer = new Consumer(many, { grant: () => {}, cancel: () => {} }, budget);
      const first = consumer.next();
      play(consumer, values);
      void (async () => {
        for (let step = await first; !step.done; step = await consumer.next()) {
          log.add(String(step.value));
          turns.nowMs += turnBudgetMs;
        }
      })();
    }
    await settle();
    while (turns.turn()) await settle();
    expect([...log.text].sort().join("")).toBe("abcdmnop");
    expect(log.text.replace(/[m-p]/g, "")).toBe("abcd");
    expect(log.text.replace(/[a-d]/g, "")).toBe("mnop");
    expect(log.text.indexOf("m")).toBeLessThan(3);
  });

  test("gives a stream's failure after the values that wait for the next turn", async () => {
    const { consumer, turns } = make(many);
    const reads = Array.from({ length: 4 }, () =>
      consumer.next().then(
        (step) => step.value,
        () => "x",
      ),
    );
    play(consumer, "a");
    turns.nowMs += turnBudgetMs;
    play(consumer, "bcx");
    await settle();
    while (turns.turn()) await settle();
    expect(await Promise.all(reads)).toEqual(["a", "b", "c", "x"]);
  });

  test("ends at once by return(), and drops what waits for the next turn", async () => {
    const { consumer, turns, log } = await reading("abcd", turnBudgetMs);
    expect(log.text).toBe("a");
    const ended = consumer.return("done");
    play(consumer, "|");
    while (turns.turn()) await settle();
    expect(await ended).toEqual({ done: true, value: "done" });
    expect(log.text).toBe("a|");
  });

  test("has at most 1,024 values of a larger window in flight, and asks for more only while the turn's time lasts", async () => {
    const { consumer, wire, turns } = make({ items: 3000, bytes: 1e9 });
    void consumer.next();
    const arrive = (values: number): void => {
      for (let each = 0; each < values; each++) expect(consumer.arrived(each, 0)).toBe(true);
    };
    expect(wire.text).toBe("+1024");
    arrive(512);
    expect(wire.text).toBe("+1024+512");
    turns.nowMs += turnBudgetMs;
    arrive(700);
    expect(wire.text).toBe("+1024+512");
    turns.turn();
    expect(wire.text).toBe("+1024+512+700");
    turns.turn();
    arrive(1024);
    expect(consumer.credit.items).toBeGreaterThan(0);
  });
});
