// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { sharesOf } from "../src/channel/platform.js";
import type { Measurement } from "../src/protocol/message.js";
import { execute, UNMEASURED } from "../src/run/execute.js";
import { resultsOf, withoutImpossibleParts } from "../src/run/record.js";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { publishedScenarios } from "./published-scenarios.js";
import { cell, measured, record } from "./record.js";

describe("the results of scenarios", () => {
  test("have every planned cell", () => {
    const results = resultsOf(record());
    expect(results.cells).toHaveLength(6);
    expect(results.cells.filter(({ status }) => status === "ok")).toHaveLength(5);
  });

  test("has the median of the rounds for a value and one histogram for samples", () => {
    const [clone, , , stream] = resultsOf(record()).cells;
    expect(clone?.metrics["longestStall"]).toEqual({ unit: "ms", value: 500 });
    expect(stream?.metrics["latency"]).toMatchObject({ unit: "us", n: 2000, unsupported: ["p999"] });
  });

  test("has the reason for each cell that is unavailable or failed", () => {
    const failed = cell("students", "comlink", { rows: 1 }, [], { failure: "it broke" });
    const results = resultsOf(record({ cells: [...record().cells, failed] }));
    expect(results.cells.at(-1)).toMatchObject({ status: "failed", why: "it broke", metrics: {} });
    expect(results.cells.at(-2)).toMatchObject({ status: "unavailable", why: "not built yet: see clearway-stream" });
  });
});

describe("a part that is greater than its whole", () => {
  const trip = (hop: number) => {
    const whole = measured({}, [10, 10, 10]);
    const values = {
      hop: { unit: "us", value: hop },
      hopShare: { unit: "%", value: 100 },
      other: { unit: "us", value: 1 },
    };
    return { ...whole, samples: { roundTrip: whole.samples["latency"]! }, values } as Measurement;
  };
  const checked = (mechanism: string, ...hops: number[]) =>
    withoutImpossibleParts(
      record({ cells: [{ ...cell("students", "direct", { rows: 1 }, hops.map(trip)), mechanism }] }),
    ).cells[0]!.rounds.map(({ measurement }) => measurement);

  test("is left out of all rounds of its cell with a note, and its shares with it", () => {
    for (const { values, notes } of checked("background-queue", 9, 35)) {
      expect(Object.keys(values)).toEqual(["other"]);
      expect(notes).toEqual([
        "a hop of 35.0 us in a round trip of 10.0 us was measured wrongly: the hops are left out",
      ]);
    }
  });

  test("stays if it is no longer, but not on the calling thread, where nothing hops", () => {
    expect(checked("background-queue", 9)).toEqual([trip(9)]);
    expect(Object.keys(checked("calling-thread", 9)[0]!.values)).toEqual(["other"]);
  });

  test("has a share of at most the whole", () => {
    expect(sharesOf(10.1, 35)).toMatchObject({ hop: { value: 35 }, hopShare: { value: 100 }, copyShare: { value: 0 } });
    expect(sharesOf(10, 10.5)).toMatchObject({ hopShare: { value: 100 }, copyShare: { value: 0 } });
    expect(sharesOf(10, 4)).toMatchObject({ hopShare: { value: 40 }, copyShare: { value: 60 } });
  });
});

describe("a run", () => {
  const students = publishedScenarios().filter(({ name }) => name === "students");
  const cells = planCells(students, ["node"], {}, 2);
  const order = planOrder(cells, 1);
  const forever = { budgetMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

  function fake(stepMs: number, onMeasure: (call: number) => void = () => {}) {
    let now = 0;
    let calls = 0;
    return {
      nowMs: () => now,
      watch: () => () => 0.5,
      measure: async () => {
        onMeasure(calls++);
        now += stepMs;
        return measured({ longestStall: 1 });
      },
    };
  }

  test("measures every cell in every round and reports the time left", async () => {
    const left: number[] = [];
    const { signal } = new AbortController();
    const execution = await execute(cells, order, fake(1000), forever, signal, (step) => left.push(step.leftMs));
    expect(execution).toMatchObject({ done: order.length, interrupted: false, budgetEnded: false });
    expect(execution.cells.every(({ rounds }) => rounds.length === 2)).toBe(true);
    // The pace is known after the first measurement. Each step takes one second.
    expect(left[1]).toBe((order.length - 1) * 1000);
    expect(left.at(-1)).toBe(0);
  });

  test("begins no further round after its budget, and no measurement after its end", async () => {
    const { signal } = new AbortController();
    const cut = await execute(cells, order, fake(1000), { budgetMs: 5500, endMs: 99_000 }, signal, () => {});
    expect(cut).toMatchObject({ done: cells.length, budgetEnded: true });
    const ended = await execute(cells, order, fake(1000), { budgetMs: 1000, endMs: 2500 }, signal, () => {});
    expect(ended.done).toBe(3);
    const unmeasured = ended.cells.filter(({ rounds }) => rounds.length === 0);
    expect(unmeasured.map(({ unavailable }) => unavailable)).toEqual(Array(cells.length - 3).fill(UNMEASURED.budget));
  });

  test("keeps its measurements when it is interrupted, and reports no cell as failed", async () => {
    const controller = new AbortController();
    const executor = fake(1000, (call) => {
      if (call !== 2) return;
      controller.abort();
      throw new Error("killed");
    });
    const {
      cells: kept,
      done,
      interrupted,
    } = await execute(cells, order, executor, forever, controller.signal, () => {});
    expect([done, interrupted]).toEqual([2, true]);
    expect(kept.filter(({ failure }) => failure !== undefined)).toHaveLength(0);
    expect(kept.filter(({ unavailable }) => unavailable === UNMEASURED.interrupted)).toHaveLength(cells.length - 2);
  });

  test("continues after a failure and keeps the first line of its message", async () => {
    const executor = fake(1000, (call) => {
      if (call === 0) throw new Error("page.evaluate: it broke\n    at somewhere");
    });
    const execution = await execute(cells, order, executor, forever, new AbortController().signal, () => {});
    expect(execution.done).toBe(order.length - 1);
    expect(execution.cells.filter(({ failure }) => failure === "it broke")).toHaveLength(1);
  });
});
