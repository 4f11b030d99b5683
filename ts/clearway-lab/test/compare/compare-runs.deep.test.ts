// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the comparison of two kept runs and the gate: matching, differences, verdicts, false alarms.
import { describe, expect, test } from "vitest";
import { compareKeptRuns } from "../../src/compare/compare-kept-runs.js";
import { parseMetric } from "../../src/compare/figures.js";
import { gateRuns } from "../../src/compare/gate.js";
import type { KeptRun } from "../../src/compare/kept-run.js";
import type { RecordedCell } from "../../src/run/record.js";
import { cell, measured, record } from "../record.js";
import { falseAlarms, power } from "./false-alarms.js";
import { cellOf, HARD_NOISE, keptRun, QUICK, simulator } from "./simulated-runs.js";

/** Five rounds around `us`, each a little different. `turn` changes the order. */
const around = (us: number, turn = 0) => [0, 1, 2, 3, 4].map((at) => us * (1 + 0.004 * (((at + turn) % 5) - 2)));
const references = (turn: number, us = 50) =>
  Array.from({ length: 10 }, (_, at) => cellOf(`reference-${at}`, {}, around(us + at, at + turn)));

let run = 0;
const kept = (cells: RecordedCell[], more: Parameters<typeof keptRun>[0] = {}): KeptRun =>
  keptRun({ startedAt: `run ${++run}`, cells: [...references(run), ...cells], ...more });
const pair = (a: RecordedCell[], b: RecordedCell[]) => compareKeptRuns(kept(a), kept(b));
const clearway = (us: number, turn = 0) => cellOf("clearway", { size: 1 }, around(us, turn));
const own = (compared: ReturnType<typeof pair>) => compared.cells.find(({ mechanism }) => mechanism === "clearway")!;

describe("a comparison of two runs", () => {
  test.each<[string, number, number, string]>([
    ["half as long", 100, 50, "faster"],
    ["twice as long", 50, 100, "slower"],
    ["1 % longer", 100, 101, "no difference"],
  ])("of a cell that takes %s gives its verdict", (_, before, after, verdict) => {
    const found = own(pair([clearway(before)], [clearway(after, 2)]));
    expect(found.verdict).toBe(verdict);
    expect(found.ratio).toBeCloseTo(after / before, 1);
    expect(found.low).toBeLessThan(found.ratio!);
    expect(found.high).toBeGreaterThan(found.ratio!);
  });

  test("of a noisy cell is undecided, with an interval on both sides of 1", () => {
    const noisy = (times: number[]) => cellOf("clearway", { size: 1 }, times);
    const found = own(pair([noisy([80, 130, 100, 95, 120])], [noisy([120, 90, 110, 140, 85])]));
    expect(found.verdict).toBe("undecided");
    expect(found.low).toBeLessThan(0.9);
    expect(found.high).toBeGreaterThan(1.1);
  });

  test("is the inverse one when the runs change places", () => {
    const { a, b } = simulator(12)([1.4]);
    const [forth, back] = [compareKeptRuns(a, b), compareKeptRuns(b, a)];
    const inverse = { slower: "faster", faster: "slower", undecided: "undecided", "no difference": "no difference" };
    for (const found of forth.cells) {
      const other = back.cells.find(({ key }) => key === found.key)!;
      expect(other.verdict).toBe(inverse[found.verdict]);
      expect(other.p).toBeCloseTo(found.p!, 10);
      for (const [own, opposite] of [
        [found.ratio, other.ratio],
        [found.low, other.high],
        [found.high, other.low],
      ])
        expect(opposite! * own!).toBeCloseTo(1, 10);
    }
    expect(back.noise.factor).toBeCloseTo(forth.noise.factor, 10);
    expect(back.noise.shift).toBeCloseTo(1 / forth.noise.shift, 10);
  });

  test("of a run with itself has the ratio 1 everywhere", () => {
    const { a } = simulator(13)();
    const compared = compareKeptRuns(a, a);
    expect(compared.sameRun).toBe(true);
    expect(compared.differences).toEqual([]);
    expect(compared.cells.every(({ ratio }) => ratio === 1)).toBe(true);
    expect(new Set(compared.cells.map(({ verdict }) => verdict))).toEqual(new Set(["no difference"]));
    expect(gateRuns(compared, { max: 1 }).verdict).toBe("passed");
  });

  test("divides the ratios by that of unchanged code, because the machine differed", () => {
    const slow = keptRun({
      startedAt: "slow",
      cells: [...references(1, 100), cellOf("clearway", { size: 1 }, around(200))],
    });
    const fast = keptRun({
      startedAt: "fast",
      cells: [...references(2, 50), cellOf("clearway", { size: 1 }, around(100, 1))],
    });
    const compared = compareKeptRuns(slow, fast);
    expect(compared.noise.shift).toBeCloseTo(0.52, 1);
    expect(own(compared).ratio).toBeCloseTo(0.96, 1);
  });

  test("does not count a library of another version as unchanged code", () => {
    const peers = (version: string) => ({ ...record().build, peers: { "reference-3": version } });
    const [a, b] = [kept([clearway(1)], { build: peers("1.0.0") }), kept([clearway(1)], { build: peers("1.1.0") })];
    expect(compareKeptRuns(a, b).noise.cells).toBe(9);
  });

  test("assumes the noise between the runs if there is too little unchanged code", () => {
    const lone = (us: number, turn: number) => keptRun({ startedAt: `lone ${us}`, cells: [clearway(us, turn)] });
    const compared = compareKeptRuns(lone(100, 0), lone(103, 1));
    expect(compared.noise).toMatchObject({ source: "assumed", cells: 0, shift: 1 });
    expect(own(compared).verdict).toBe("undecided");
    expect(own(compareKeptRuns(lone(100, 0), lone(300, 1))).verdict).toBe("slower");
  });

  test("of more events a second is faster, because a cost is compared", () => {
    const [a, b] = [100, 300].map((rate) => cellOf("clearway", {}, around(rate), "events/s"));
    expect(own(pair([a!], [b!]))).toMatchObject({ verdict: "faster", a: 100, b: 300 });
  });

  test("of bytes, which have no noise, sees every difference", () => {
    const bytes = (count: number) => cellOf("clearway", {}, [count, count, count, count, count], "bytes");
    const counted = (count: number) => keptRun({ startedAt: `bytes ${count}`, cells: [bytes(count)] });
    expect(own(compareKeptRuns(counted(1000), counted(1001)))).toMatchObject({ verdict: "slower", p: 0 });
    expect(own(compareKeptRuns(counted(1000), counted(1000))).verdict).toBe("no difference");
  });

  test("converts microseconds and milliseconds, and compares no other units", () => {
    const us = cellOf("clearway", {}, around(2000));
    const ms = cellOf("clearway", {}, around(2, 1), "ms");
    expect(own(pair([us], [ms]))).toMatchObject({ verdict: "no difference", unit: { a: "us", b: "ms" } });
    const rate = cellOf("clearway", {}, around(2000), "events/s");
    expect(pair([us], [rate]).others).toMatchObject([{ why: "its units differ: us in A, events/s in B" }]);
  });

  test("reads quantiles from histograms, and takes their samples into account", () => {
    const load = { perSecond: 1000 };
    const stream = (us: number) =>
      cell(
        "stream",
        "clearway-stream",
        load,
        [0, 1, 2, 3, 4].map((round) =>
          measured(
            {},
            Array.from({ length: 200 }, (_, at) => us + round + at / 2),
          ),
        ),
      );
    const sampled = (us: number) => ({
      file: "record.json",
      record: record({ startedAt: `${us}`, cells: [stream(us)] }),
    });
    const compared = compareKeptRuns(sampled(100), sampled(300));
    expect(compared.cells).toMatchObject([{ metric: "latency.p50", verdict: "slower", unit: { a: "us", b: "us" } }]);
    expect(compared.cells[0]!.a).toBeCloseTo(152, 0);
    const tail = compareKeptRuns(sampled(100), sampled(300), { metric: parseMetric("latency.p90")! });
    expect(tail.cells[0]!.a).toBeCloseTo(192, 0);
    expect(compareKeptRuns(sampled(1), sampled(2), { metric: parseMetric("nothing")! }).others).toMatchObject([
      { why: "A: it has no figure nothing; B: it has no figure nothing" },
    ]);
  });

  test.each([1, 2, 3, 4])("of %d rounds is undecided, however clear", (rounds) => {
    const few = (us: number) => cellOf("clearway", {}, around(us).slice(0, rounds));
    const found = own(pair([few(1)], [few(100)]));
    expect(found).toMatchObject({ verdict: "undecided", rounds, why: expect.stringContaining("5 are needed") });
  });

  test("pairs the rounds that both runs have, whatever their order", () => {
    const b = clearway(100);
    b.rounds = b.rounds.slice(1).reverse();
    expect(own(pair([clearway(100)], [b])).rounds).toBe(4);
  });

  test("does not decide within the A/A floor of the runs", () => {
    const repeat = (us: number) => cellOf("reference-0", { control: "A/A" }, around(us));
    const compared = pair([clearway(100), repeat(150)], [clearway(200, 1), repeat(150)]);
    expect(own(compared)).toMatchObject({ verdict: "undecided", why: expect.stringMatching(/^within the A\/A floor/) });
    expect(own(compared).floor).toBeCloseTo(3, 0);
    expect(gateRuns(compared, { max: 1.1 }).cells).toMatchObject([{ status: "undecided" }]);
  });

  test.each<[string, number]>([
    ["zero", 0],
    ["negative", -1],
    ["not finite", Number.POSITIVE_INFINITY],
    ["not a number", Number.NaN],
  ])("leaves out a cell with a figure that is %s, and names the round", (_, value) => {
    const compared = pair([clearway(100)], [cellOf("clearway", { size: 1 }, [100, 101, value, 100, 99])]);
    expect(compared.others).toMatchObject([
      { why: `B: both is ${value} us in round 2, and a ratio needs a number above 0` },
    ]);
  });

  test("leaves out cells of one run only, and those that failed, with the reason", () => {
    const failed = { ...clearway(1), rounds: [], failure: "it broke" };
    expect(pair([clearway(1)], [failed]).others).toMatchObject([{ why: "B: it broke", onlyIn: "A" }]);
    expect(pair([clearway(1)], []).others).toMatchObject([{ why: "B does not have it", onlyIn: "A" }]);
    expect(pair([], [clearway(1)]).others).toMatchObject([{ why: "A does not have it", onlyIn: "B" }]);
    expect(compareKeptRuns(keptRun({ cells: [] }), keptRun({ cells: [] }))).toMatchObject({ cells: [], others: [] });
  });

  test("corrects the verdicts for the number of cells", () => {
    const lone = pair([clearway(100)], [clearway(115, 2)]);
    const many = (us: number, turn: number) =>
      Array.from({ length: 60 }, (_, at) => cellOf(`clearway-${at}`, {}, around(100, at + turn))).concat(
        clearway(us, turn),
      );
    const crowded = pair(many(100, 0), many(115, 2));
    expect(own(crowded).p).toBeGreaterThan(own(lone).p!);
  });
});

describe("what differs between two runs", () => {
  const base = record();
  test.each<[string, Parameters<typeof keptRun>[0], string, string, boolean]>([
    ["another CPU", { machine: { ...base.machine, cpu: "Other" } }, "machine", "CPU", false],
    ["another number of cores", { machine: { ...base.machine, cores: 2 } }, "machine", "number of cores", false],
    ["another system", { machine: { ...base.machine, os: "Linux 7" } }, "machine", "operating system", false],
    ["another Node", { build: { ...base.build, node: "v24" } }, "runtime", "Node", true],
    ["options of Node", { build: { ...base.build, nodeOptions: "--jitless" } }, "runtime", "options of Node", true],
    ["another profile", { profile: "full" }, "profile", "profile", true],
    ["another lab", { build: { ...base.build, lab: "0.2.0" } }, "profile", "version of the lab", true],
  ])("is %s; rounds of two machines are not paired", (_, more, kind, what, paired) => {
    const compared = compareKeptRuns(kept([clearway(1)]), kept([clearway(1)], more));
    expect(compared.differences).toMatchObject([{ kind, what }]);
    expect(compared.differences[0]?.next).toMatch(/^measure both/);
    expect(compared.paired).toBe(paired);
  });

  test("is a cell that is pinned to cores in one run only", () => {
    const pinned = cellOf("clearway", { size: 1, cores: "two" }, around(1));
    const compared = pair([clearway(1)], [pinned]);
    expect(compared.differences).toMatchObject([
      { kind: "pinning", what: "cores of simulated/clearway", a: "any", b: "two" },
    ]);
    expect(compared.others).toHaveLength(2);
  });

  test("is not another commit or version of Clearway, which is what is compared", () => {
    const build = { ...base.build, clearway: "0.2.0", commit: "abc" };
    expect(compareKeptRuns(kept([]), kept([], { build })).differences).toEqual([]);
  });
});

describe("the gate", () => {
  test("fails for a cell that is slower than the limit with evidence, and lists it first", () => {
    const compared = pair([clearway(100)], [clearway(150, 1)]);
    const gate = gateRuns(compared, { max: 1.1 });
    expect(gate.verdict).toBe("failed");
    expect(gate.cells).toMatchObject([{ mechanism: "clearway", status: "slower" }]);
    expect(gate.cells[0]!.low).toBeGreaterThan(1.1);
    expect(gateRuns(compared, { max: 1.6 }).verdict).toBe("passed");
    expect(gateRuns(compareKeptRuns(compared.b, compared.a), { max: 1 }).verdict).toBe("passed");
  });

  test("passes over an undecided cell, or fails if it is asked to", () => {
    const compared = pair([clearway(100)], [clearway(109, 1)]);
    expect(gateRuns(compared, { max: 1.1 })).toMatchObject({ verdict: "passed", cells: [{ status: "undecided" }] });
    expect(gateRuns(compared, { max: 1.1, failUndecided: true }).verdict).toBe("failed");
    expect(gateRuns(compared, { max: 1.5, failUndecided: true })).toMatchObject({
      verdict: "passed",
      cells: [{ status: "within" }],
    });
  });

  test("does not take for evidence what two humps of equal code could look like", () => {
    // Two groups a factor of 2 apart that last for several rounds, in all cells of unchanged code.
    const humped = (at: number) => cellOf(`humped-${at}`, {}, [50, 50.5, 50, 100, 101, 100, 50, 50.5]);
    const cells = (us: number, turn: number) => [
      clearway(us, turn),
      ...Array.from({ length: 30 }, (_, at) => humped(at)),
    ];
    const [status, why] = ["undecided", "two humps of equal code could look like this"];
    const gated = gateRuns(pair(cells(100, 0), cells(150, 1)), { max: 1.1 });
    expect(gated).toMatchObject({ verdict: "passed", cells: [{ status, why }] });
  });

  test("gates Clearway's cells, or the selected ones, or all if none is Clearway's", () => {
    const compared = pair([clearway(1)], [clearway(1, 1)]);
    expect(gateRuns(compared, { max: 1.5 }).cells).toHaveLength(1);
    expect(gateRuns(compared, { max: 1.5, selects: ({ role }) => role === "reference" }).cells).toHaveLength(10);
    expect(gateRuns(pair([], []), { max: 1.5 }).cells).toHaveLength(10);
  });

  test("does not pass over a cell that B has lost, and ignores a new one", () => {
    expect(gateRuns(pair([clearway(1)], []), { max: 2, selects: () => true }).cells).toContainEqual(
      expect.objectContaining({ status: "undecided", why: "B does not have it" }),
    );
    const added = gateRuns(pair([], [clearway(1)]), { max: 2, selects: () => true });
    expect(added.cells.map(({ mechanism }) => mechanism)).not.toContain("clearway");
  });

  test.each([0.9, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses the limit %d", (max) => {
    expect(() => gateRuns(pair([], []), { max })).toThrow(`max=${max}`);
  });
});

describe("over simulated pairs of runs", () => {
  test("the gate fails for fewer than 5 % of 200 pairs of equal runs", () => {
    const { falseAlarms: failed, falseVerdicts } = falseAlarms(1, 200, QUICK, [1, 1.1]);
    expect(failed["1.1"]).toBeLessThan(0.05);
    expect(failed["1"]).toBeLessThan(0.05);
    expect(falseVerdicts).toBeLessThan(0.05);
  });

  test("nor with twice the noise and cells that stay in a hump for a whole run", () => {
    const { falseAlarms: failed } = falseAlarms(2, 200, { ...QUICK, noise: HARD_NOISE }, [1, 1.1]);
    expect(failed["1.1"]).toBeLessThan(0.05);
    expect(failed["1"]).toBeLessThan(0.05);
  });

  test("the gate finds a cell that takes twice as long", () => {
    const [all, alone] = power(5, 50, QUICK, 2, [
      { max: 1.1, alone: false },
      { max: 1.1, alone: true },
    ]) as [number, number];
    expect(all).toBeGreaterThan(0.6);
    expect(alone).toBeGreaterThanOrEqual(all);
  });
});
