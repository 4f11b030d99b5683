// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Listener } from "../../../src/channel/endpoint/event-stream.js";
import { TurnBudget, turnBudgetMs } from "../../../src/transport/turn-budget.js";
import { FakeTurns } from "../../stream/fake-turns.js";

/** A listener whose events each take `costMs` to decode, and its log: the values, `|` for the end and `x` for an error. */
function listening(costMs: number, turns = new FakeTurns(), budget = new TurnBudget(turns)) {
  const log: string[] = [];
  const listener = new Listener<string>(
    {
      decode: (message) => {
        turns.nowMs += costMs;
        return message;
      },
      grant: () => {},
      cancel: () => log.push("cancel"),
      done: () => {},
      onDrop: undefined,
    },
    { items: 100, bytes: 100 },
    budget,
  );
  const all = (async () => {
    try {
      for await (const value of listener as AsyncIterable<string>) log.push(value);
      log.push("|");
    } catch {
      log.push("x");
    }
  })();
  const play = (values: string): void => {
    for (const value of values) listener.arrived(value, 1, 0, 0);
  };
  return { listener, turns, budget, play, all, text: () => log.join("") };
}

/** Lets all microtasks run. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 100; i++) await undefined;
};

describe("the listener of an event stream", () => {
  test("lets the event loop turn when the turn's time is spent, and goes on in the next turn", async () => {
    const { listener, turns, play, all, text } = listening(turnBudgetMs / 2);
    play("abcde");
    listener.ended(0);
    await settle();
    expect(text()).toBe("ab");
    turns.turn();
    await settle();
    expect(text()).toBe("abcd");
    turns.turn();
    await all;
    expect(text()).toBe("abcde|");
  });

  test("gives several waiting readers their events in order, over several turns", async () => {
    const turns = new FakeTurns();
    const { listener, play, all, text } = listening(turnBudgetMs, turns);
    const reads = Array.from({ length: 3 }, () => listener.next());
    play("abcd");
    listener.ended(0);
    await settle();
    while (turns.turn()) await settle();
    await all;
    expect(text()).toBe("a|");
    expect((await Promise.all(reads)).map(({ value }) => value)).toEqual(["b", "c", "d"]);
  });

  test("shares the time of a turn with the other streams of the thread", async () => {
    const first = listening(turnBudgetMs);
    const second = listening(turnBudgetMs, first.turns, first.budget);
    first.play("ab");
    second.play("mn");
    await settle();
    expect(first.text() + second.text()).toBe("a");
    first.turns.turn();
    await settle();
    expect(second.text()).toBe("m");
    while (first.turns.turn()) await settle();
    expect([first.text(), second.text()]).toEqual(["ab", "mn"]);
  });

  test("fails at once, and drops the events that wait for the next turn", async () => {
    const { listener, turns, play, all, text } = listening(turnBudgetMs);
    play("abc");
    await settle();
    listener.fail(new Error("aborted"));
    await all;
    expect(text()).toBe("ax");
    while (turns.turn()) await settle();
    expect(text()).toBe("ax");
  });

  test("ends at once by return(), and asks the other end to stop", async () => {
    const { listener, turns, play, all, text } = listening(turnBudgetMs);
    play("abc");
    await settle();
    expect(await listener.return()).toEqual({ done: true, value: undefined });
    await all;
    expect(text().replace("cancel", "")).toBe("a|");
    expect(text()).toContain("cancel");
    while (turns.turn()) await settle();
    expect(await listener.next()).toEqual({ done: true, value: undefined });
  });
});
