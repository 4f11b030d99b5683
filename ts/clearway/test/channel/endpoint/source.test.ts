// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { nothing } from "../../../src/channel/endpoint/connection.js";
import type { Encoded } from "../../../src/channel/endpoint/outgoing-value.js";
import { Source, type SourceWire } from "../../../src/channel/endpoint/source.js";
import type { QueueLimits } from "../../../src/channel/endpoint/source-queue.js";
import { Status } from "../../../src/channel/wire/frame.js";
import { ClearwayError } from "../../../src/error/clearway-error.js";
import { TurnBudget, turnBudgetMs } from "../../../src/transport/turn-budget.js";
import { FakeTurns } from "../../stream/fake-turns.js";

/** Creates a source on a wire that only records what it receives. Unless a test passes other turns, the time of a turn never ends. */
function start(limits: Partial<QueueLimits> = {}, turns = new TurnBudget(new FakeTurns())) {
  const sent: unknown[] = [];
  const values = new Map<Encoded, unknown>();
  const line = { congested: false, ended: 0, reported: [] as unknown[] };
  const wire: SourceWire = {
    encode(value) {
      if (value === "large") throw new ClearwayError("too-large", "for the other end");
      if (typeof value === "function") throw new TypeError("no form");
      const message = { ...nothing, body: new Uint8Array(10) };
      values.set(message, value);
      return message;
    },
    event: (message) => void sent.push(values.get(message)),
    end: (status, error) => void sent.push(error === undefined ? (Status[status] ?? status) : error),
    report: (error) => void line.reported.push(error),
    congested: () => line.congested,
  };
  const source = new Source("s", { whenFull: "wait", capacity: 16, ...limits }, wire, () => line.ended++, turns);
  const grant = (items: number): void => {
    source.queue.credit.grant(items, 1000);
    source.drain();
  };
  return { source, sent, line, grant };
}

/** Returns a generator that counts forever, with counts of drawn values and of closes. */
function counter() {
  const seen = { drawn: 0, closed: 0 };
  const values = (function* () {
    try {
      for (;;) yield seen.drawn++;
    } finally {
      seen.closed++;
    }
  })();
  return { seen, values };
}

/** Waits until all pending promises have settled. Nothing here waits for anything else. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe("a source that draws from an iterable", () => {
  test("draws nothing before the first credit, and then one value per credit", async () => {
    const { source, sent, grant } = start();
    const { seen, values } = counter();
    void source.pump(values);
    await settled();
    expect(seen.drawn).toBe(0);
    for (const [items, all] of [
      [1, 1],
      [3, 4],
      [2, 6],
    ] as const) {
      grant(items);
      await settled();
      expect([seen.drawn, sent.length]).toEqual([all, all]);
    }
    source.cancel("enough");
    await settled();
    expect(seen).toEqual({ drawn: 6, closed: 1 });
  });

  test("draws nothing while the transport holds frames back", async () => {
    const { source, sent, line, grant } = start();
    const { seen, values } = counter();
    line.congested = true;
    void source.pump(values);
    grant(5);
    await settled();
    expect(seen.drawn).toBe(0);
    line.congested = false;
    source.drain();
    await settled();
    expect(sent).toEqual([0, 1, 2, 3, 4]);
  });

  test.each(["wait", "fail", "dropOldest", "dropNewest"] as const)(
    "sends drawn values after its pushed values, and loses none of them: %s",
    async (whenFull) => {
      const { source, sent, grant } = start({ whenFull, capacity: 1 });
      let yielded = (_: string): void => {};
      const drawn = new Promise<string>((resolve) => (yielded = resolve));
      void source.pump(
        (async function* () {
          yield await drawn;
          yield "two";
        })(),
      );
      grant(1);
      await source.send("pushed");
      await source.send("pushed, too");
      yielded("one");
      await settled();
      expect(sent).toEqual(["pushed"]);
      grant(9);
      await settled();
      expect(sent).toEqual(["pushed", "pushed, too", "one", "two", "done"]);
    },
  );

  test("closes its iterator when a value cannot be sent, also while the transport holds frames back", async () => {
    const { source, sent, line, grant } = start();
    let closed = 0;
    grant(5);
    const pumped = source.pump(
      (async function* () {
        try {
          yield 1;
          line.congested = true;
          yield () => 2;
        } finally {
          closed++;
        }
      })(),
    );
    await pumped;
    expect([closed, sent]).toEqual([1, [1]]);
    line.congested = false;
    source.drain();
    expect(sent).toEqual([1, new TypeError("no form")]);
    expect(line.ended).toBe(1);
  });

  test("closes its iterator once when the sink ends, and not when the iterator ends by itself", async () => {
    const { source, sent, grant } = start();
    const { seen, values } = counter();
    const pumped = source.pump(values);
    grant(2);
    await settled();
    source.end();
    await pumped;
    expect([seen.closed, sent]).toEqual([1, [0, 1, "done"]]);

    const other = start();
    let closed = 0;
    const iterator = {
      next: () => ({ done: true, value: 7 }) as const,
      return: () => ({ done: true, value: ++closed }),
    };
    const done = other.source.pump({ [Symbol.iterator]: () => iterator as never });
    other.grant(1);
    await done;
    expect([closed, other.sent]).toEqual([0, ["done"]]);
  });

  test("does not start when the listener is gone, and reports an error of closing", async () => {
    const { source, line } = start();
    source.cancel("gone");
    let drawn = 0;
    const iterator = {
      next: () => ({ done: false, value: drawn++ }),
      return() {
        throw new Error("cannot close");
      },
    };
    await source.pump({ [Symbol.iterator]: () => iterator });
    expect([drawn, line.reported]).toEqual([0, [new Error("cannot close")]]);
  });
});

describe("a source that does not await its sends", () => {
  // An unhandled rejection ends a process of Node, and fails the tests.
  test.each<[string, Partial<QueueLimits>, unknown]>([
    ["its listener fails when it is full", { whenFull: "fail", capacity: 1 }, 1],
    ["its listener reads nothing", {}, 1],
    ["its listener takes only small frames", {}, "large"],
  ])("goes on when %s", async (_, limits, event) => {
    const { source, sent, grant } = start(limits);
    for (let n = 0; n < 1100; n++) void source.send(event);
    const awaited = source.send(event);
    await settled();
    await expect(awaited).rejects.toMatchObject({ code: event === "large" ? "too-large" : "queue-full" });
    for (let n = 0; n < 20; n++) grant(100);
    await settled();
    expect(await source.send(2)).toBe(true);
    expect(sent.at(-1)).toBe(2);
  });
});

describe("a source that never waits for its listener", () => {
  // The time of a turn begins with the turn. Four events use it up.
  const eachTurn = [4, 4, 4, 4];

  /** Starts a source with turns that only the test advances. Each event takes a quarter of a turn's time. */
  function timed(limits: Partial<QueueLimits>) {
    const fake = new FakeTurns();
    const { source, sent, grant } = start(limits, new TurnBudget(fake));
    const perTurn: number[] = [];
    const spend = (): void => {
      perTurn[perTurn.length - 1]!++;
      fake.nowMs += turnBudgetMs / 4;
    };
    const turn = async (): Promise<void> => {
      perTurn.push(0);
      fake.turn();
      await settled();
    };
    return { source, sent, grant, perTurn, spend, turn };
  }

  test("lets the event loop turn although its listener drops events", async () => {
    const { source, perTurn, spend, turn } = timed({ whenFull: "dropOldest", capacity: 1 });
    const sending = (async () => {
      while (!source.signal.aborted) {
        spend();
        await source.send(1);
      }
    })();
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(perTurn.slice(1)).toEqual(eachTurn);
    source.cancel("enough");
    await turn();
    await sending;
  });

  test("lets the event loop turn although its credit has no end, as on the plain wire", async () => {
    const { source, sent, grant, perTurn, spend, turn } = timed({});
    grant(Number.POSITIVE_INFINITY);
    const values = (function* () {
      for (;;) {
        spend();
        yield 1;
      }
    })();
    perTurn.push(0);
    const pumping = source.pump(values);
    for (let turns = 0; turns < 4; turns++) await turn();
    expect(perTurn.slice(1)).toEqual(eachTurn);
    expect(sent).toHaveLength(perTurn.reduce((sum, each) => sum + each, 0));
    source.cancel("enough");
    await turn();
    await pumping;
  });
});
