// SPDX-License-Identifier: MIT OR Apache-2.0
// The authors' findings about executors, each compared with invented runs that agree, differ, or decide nothing.
import { describe, expect, test } from "vitest";
import { EXECUTOR_WAYS, executorFindings } from "../../src/run/executors.js";
import { AUTHORS, executorRecord, scenario, type Times } from "./executor-record.js";

const outcomes = (times: Times, rounds?: number) =>
  Object.fromEntries(executorFindings(executorRecord(times, rounds)).map(({ name, outcome }) => [name, outcome]));

/** The authors' times, in which some are changed. */
const but =
  (change: (way: string, work: string, round: number) => number | undefined): Times =>
  (way, work, round) =>
    change(way, work, round) ?? AUTHORS(way, work, round);

const ALL_AGREE = {
  "direct-arithmetic": "agrees",
  // It reads another scenario, which has its own test.
  processors: "open",
  "flow-dearest": "agrees",
  "work-stealing-lists": "agrees",
  "waiting-frameworks": "agrees",
  "work-stealing-mixed": "agrees",
  "three-blocks": "agrees",
  "io-order": "agrees",
  "coroutines-before-rxjava": "agrees",
  "cores-before-io-rxjava": "agrees",
  "cores-before-io-coroutines": "agrees",
  "cores-before-io-flow": "agrees",
  "coroutines-cores-on-lists": "agrees",
  "flow-cores-on-lists": "agrees",
  "handed-back": "agrees",
  "work-stealing-100-arithmetic": "agrees",
};

describe("the sixteen published ways", () => {
  test("are those that the scenario marks as published, in its order", () => {
    const marked = scenario.mechanisms.filter(({ published }) => published).map(({ name }) => name);
    expect([...marked].sort()).toEqual(EXECUTOR_WAYS.map(({ name }) => name).sort());
    expect(EXECUTOR_WAYS).toHaveLength(16);
  });

  test("are in the place that the scenario names for as many threads", () => {
    const places = { one: ["caller", "one"], cores: ["cpu"], each: ["many"] };
    for (const { name, threads } of EXECUTOR_WAYS)
      expect(places[threads]).toContain(scenario.mechanisms.find((each) => each.name === name)?.place);
  });
});

describe("the findings of a run", () => {
  test("agree when the run has the authors' times", () => {
    expect(outcomes(AUTHORS)).toEqual(ALL_AGREE);
  });

  test("are open with three rounds, or without measurements", () => {
    const open = Object.fromEntries(Object.keys(ALL_AGREE).map((name) => [name, "open"]));
    expect(outcomes(AUTHORS, 3)).toEqual(open);
    expect(outcomes(() => undefined)).toEqual(open);
  });

  test.each<[string, string, Times]>([
    [
      "direct-arithmetic",
      "the next way takes 7 times as long",
      but((way, work) => (way === "direct" && work === "arithmetic" ? 0.1 : undefined)),
    ],
    [
      "flow-dearest",
      "RxJava is dearer on one thread",
      but((way, work) => (way === "rxjava-single" && work === "arithmetic" ? 9 : undefined)),
    ],
    [
      "work-stealing-lists",
      "the fixed pool is faster",
      but((way, work) => (way === "fixed-pool" && work === "lists" ? 0.001 : undefined)),
    ],
    [
      "waiting-frameworks",
      "Flow takes three times as long",
      but((way, work) => (way === "flow-io" && work === "network" ? 30 : undefined)),
    ],
    [
      "work-stealing-mixed",
      "RxJava is faster",
      but((way, work) => (way === "rxjava-io" && work === "mixed" ? 0.001 : undefined)),
    ],
    [
      "three-blocks",
      "one thread is as fast as the cores",
      but((way, work) => (way === "direct" && work === "mixed" ? 20 : undefined)),
    ],
    ["io-order", "Flow is first", but((way, work) => (way === "flow-io" && work === "storage" ? 9 : undefined))],
    [
      "coroutines-before-rxjava",
      "RxJava is first on lists",
      but((way, work) => (way === "rxjava-single" && work === "lists" ? 0.3 : undefined)),
    ],
    [
      "cores-before-io-flow",
      "a thread an action is faster",
      but((way, work) => (way === "flow-io" && work === "lists" ? 0.3 : undefined)),
    ],
    [
      "coroutines-cores-on-lists",
      "the pool is slower",
      but((way, work) => (way === "fixed-pool" && work === "lists" ? 1.5 : undefined)),
    ],
    [
      "handed-back",
      "the dispatcher alone is as slow",
      but((way, work) => (way === "coroutines-launch-default" && work === "lists" ? 5 : undefined)),
    ],
    [
      "work-stealing-100-arithmetic",
      "the larger pool is faster",
      but((way, work) => (way === "work-stealing-100" && work === "arithmetic" ? 0.6 : undefined)),
    ],
  ])("differ in %s if %s, and agree in the others", (name, _, times) => {
    expect(outcomes(times)).toEqual({ ...ALL_AGREE, [name]: "differs" });
  });

  test.each([
    [700, "agrees"],
    [7, "differs"],
  ])(
    "on the number of processors, a next way of %i hundredths of a millisecond and a loop of ten: the finding %s",
    (next, outcome) => {
      const run = executorRecord((way, work) =>
        work !== "arithmetic" ? undefined : way === "direct" ? 0.1 : way === "fixed-pool" ? next / 100 : undefined,
      );
      const started = "-XX:ActiveProcessorCount=8";
      const cells = run.cells.map((cell) => ({
        ...cell,
        scenario: "executors-started",
        params: { ...cell.params, started },
      }));
      const found = executorFindings({ ...run, cells }).find(({ name }) => name === "processors");
      expect(found).toMatchObject({ outcome, isOurs: true, parts: [{ label: started, rounds: 5 }] });
    },
  );

  test("differ if two ways take as long, and are open if the rounds do not tell", () => {
    const close = but((way, work) => (work === "lists" && way === "fixed-pool" ? 0.035 : undefined));
    expect(outcomes(close)["work-stealing-lists"]).toBe("differs");
    const edge = but((way, _, round) => (way === "direct" ? 0.02 * [1, 1.3, 0.8, 1.1, 0.9][round]! : undefined));
    expect(outcomes(edge)["direct-arithmetic"]).toBe("open");
  });

  test("have a ratio with its interval and rounds for each part", () => {
    const [direct, , flow] = executorFindings(executorRecord(AUTHORS));
    expect(direct?.parts).toHaveLength(1);
    const [part] = direct!.parts;
    expect(part).toMatchObject({ label: "arithmetic", rounds: 5, interval: { ratio: expect.closeTo(70, -1) } });
    const { low, ratio, high } = part!.interval!;
    expect([low, ratio, high]).toEqual([low, ratio, high].toSorted((a, b) => a - b));
    expect(flow?.parts.map(({ label }) => label)).toEqual([
      "arithmetic, one thread",
      "arithmetic, as many threads as cores",
      "arithmetic, a thread an action",
    ]);
  });

  test("compare a way that lacks a round in the rounds that it has", () => {
    const slow = but((way, work) => (way === "work-stealing-100" && work === "lists" ? 4 : undefined));
    const lacking: Times = (way, work, round) =>
      way === "work-stealing" && work === "lists" && round === 5 ? undefined : slow(way, work, round);
    const lists = executorFindings(executorRecord(lacking, 6)).find(({ name }) => name === "work-stealing-lists");
    expect(lists).toMatchObject({ outcome: "agrees", parts: [{ rounds: 5 }] });
  });

  test("do not wait for a way that lacks rounds and is not the fastest in the others", () => {
    const lacking: Times = (way, work, round) =>
      way === "fixed-pool" && work === "lists" && round > 0 ? undefined : AUTHORS(way, work, round);
    expect(outcomes(lacking)["work-stealing-lists"]).toBe("agrees");
  });

  test("are open if a way that could be the fastest was not measured, or in one round only", () => {
    for (const rounds of [0, 1]) {
      const lacking: Times = (way, work, round) => {
        if (way !== "fixed-pool" || work !== "lists") return AUTHORS(way, work, round);
        return round < rounds ? 0.0001 : undefined;
      };
      expect(outcomes(lacking)["work-stealing-lists"]).toBe("open");
    }
  });
});
