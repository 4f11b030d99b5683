// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adviceLines } from "../src/cli/advise-text.js";
import { EXECUTOR_WORKS } from "../src/published/executors.js";
import { adviseOf } from "../src/report/advise/advise.js";
import { resultsOf } from "../src/run/results.js";
import { loadScenarios } from "../src/scenario/load.js";
import { budgetOf } from "../src/statistics/budget.js";
import { BuiltCli } from "./built-cli.js";
import { offloadRecord } from "./offload-record.js";
import { AUTHORS, executorRecord } from "./published/executor-record.js";
import { cell, measured, record } from "./record.js";

const scenarios = loadScenarios();

describe("a budget", () => {
  const points = (...ms: number[]) => ms.map((each, at) => ({ size: 10 ** at, ms: each }));

  test("ends between the last size that fits and the first that does not", () => {
    expect(budgetOf(points(1, 10, 100), 10 ** 1.5)).toEqual({ kind: "about", size: expect.closeTo(10 ** 1.5, 6) });
  });

  test("ends at the first size that does not fit, even if a larger one fits by chance", () => {
    expect(budgetOf(points(1, 100, 5), 10)).toEqual({ kind: "about", size: expect.closeTo(10 ** 0.5, 6) });
  });

  test("is never beyond what was measured", () => {
    expect(budgetOf(points(1, 2), 10)).toEqual({ kind: "at least", size: 10 });
    expect(budgetOf(points(11, 12), 10)).toEqual({ kind: "less than", size: 1 });
    expect(budgetOf([], 10)).toBeUndefined();
  });

  test("counts the longest of several times of one size, in any order", () => {
    const given = [
      { size: 1, ms: 1 },
      { size: 2, ms: 100 },
      { size: 2, ms: 1 },
    ];
    const found = budgetOf(given, 10);
    expect(found).toEqual({ kind: "about", size: expect.closeTo(Math.SQRT2, 6) });
    expect(budgetOf([...given].reverse(), 10)).toEqual(found);
  });

  test("lies between the measured sizes and shrinks with its limit", () => {
    const size = fc.integer({ min: 0, max: 1_000_000 });
    const ms = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.record({ size, ms }), { minLength: 1, maxLength: 8 }), (given) => {
        const sizes = given.map((each) => each.size);
        const [slow, fast] = [budgetOf(given, 1000 / 60), budgetOf(given, 1000 / 120)];
        for (const found of [slow, fast]) {
          expect(found?.size).toBeGreaterThanOrEqual(Math.min(...sizes));
          expect(found?.size).toBeLessThanOrEqual(Math.max(...sizes));
        }
        expect(fast?.size).toBeLessThanOrEqual((slow?.size ?? 0) * (1 + 1e-9));
      }),
    );
  });
});

const MESSAGE = { direction: "host to worker", channel: "message", codec: "binary", reply: "the same", messages: 300 };

/** A record with a payload of two sizes: the clone of 1 MB takes 20 ms, the move takes 10 us at both sizes. */
function channelRecord() {
  const roundTrip = (us: number) => {
    const { samples, ...rest } = measured({}, new Array<number>(300).fill(us));
    return { ...rest, samples: { roundTrip: samples["latency"] as NonNullable<(typeof samples)["latency"]> } };
  };
  const at = (mechanism: string, payload: string, us: number) =>
    cell("channel-worker", mechanism, { ...MESSAGE, payload }, [roundTrip(us), roundTrip(us), roundTrip(us)]);
  return record({
    scenarios: scenarios.filter(({ name }) => name === "channel-worker"),
    cells: [
      at("structured-clone", "4 KB", 5),
      at("structured-clone", "1 MB", 20_000),
      at("port-move", "4 KB", 10),
      at("port-move", "1 MB", 10),
    ],
  });
}

const adviceFor = (of: ReturnType<typeof record>) => adviseOf(resultsOf(of), of, scenarios);

describe("the advice of a run", () => {
  test("has the payload that fits each frame, the crossover, and the cells of each line", () => {
    const { budgets } = adviceFor(channelRecord());
    expect(budgets).toHaveLength(1);
    const [table] = budgets;
    expect(table).toMatchObject({ topic: "worker", host: "node", load: "host to worker, bytes", meaning: "answered" });
    expect(table?.lines.map(({ mechanism }) => mechanism)).toEqual(["port-move", "structured-clone"]);
    const [move, clone] = table?.lines ?? [];
    expect(move?.budgets).toEqual([
      { kind: "at least", size: 1 << 20 },
      { kind: "at least", size: 1 << 20 },
    ]);
    expect(move?.crossover).toEqual({ reference: "structured-clone", at: { kind: "from", size: expect.any(Number) } });
    expect(clone?.budgets.map(({ kind }) => kind)).toEqual(["about", "about"]);
    expect(clone?.crossover).toBeUndefined();
    expect(clone?.points).toEqual([
      { size: 4096, ms: expect.closeTo(0.005, 4), figure: "p50", cells: ["channel-worker/structured-clone"] },
      { size: 1 << 20, ms: expect.closeTo(20, 0), figure: "p50", cells: ["channel-worker/structured-clone"] },
    ]);
  });

  test("names the executor of each work and the size of a task that pays off, with their cells", () => {
    const { executors, crossovers, notes } = adviceFor(offloadRecord());
    const arithmetic = executors.find(({ host, work }) => host === "node" && work.startsWith("arithmetic"));
    expect(arithmetic).toMatchObject({ best: "direct", place: "caller" });
    expect(arithmetic?.cells).toContain("works/piscina-tuned");
    expect(arithmetic?.regrets["direct"]?.ratio).toBeCloseTo(1, 1);
    expect(crossovers.length).toBeGreaterThan(0);
    for (const { cells } of crossovers) expect(cells).toContain("sizes/direct");
    for (const { cells } of notes) expect(cells.length).toBeGreaterThan(0);
  });

  test("reads the published experiments, too: the executors of each work, a crossing, and the published fills", () => {
    const { executors } = adviceFor(executorRecord(AUTHORS));
    expect(executors.map(({ host, work }) => `${host}: ${work}`)).toEqual(
      EXECUTOR_WORKS.map((work) => `jvm: ${work}, as published`),
    );
    expect(executors[0]).toMatchObject({ best: "direct", place: "caller" });
    expect(executors[0]?.sentence).toContain("run it on the calling thread");
    expect(executors[0]?.cells).toContain("published-executors/flow");
    const sized = (
      scenario: string,
      mechanism: string,
      sample: string,
      us: (bytes: number) => number,
      params: object,
    ) =>
      [4096, 1 << 20, 8 << 20].map((bytes) => {
        const { samples, ...rest } = measured({}, new Array<number>(300).fill(us(bytes)));
        const round = { ...rest, samples: { [sample]: samples["latency"]! } };
        return cell(scenario, mechanism, { bytes, ...params }, [round, round, round]);
      });
    const published = record({
      scenarios: scenarios.filter(({ name }) => ["crossing", "memset-published"].includes(name)),
      cells: [
        ...sized("crossing", "objects-cloned", "stall", (bytes) => bytes / 100, { direction: "to the worker" }),
        ...sized("memset-published", "c", "fill", (bytes) => bytes / 10_000, { memory: "warm" }),
      ],
    });
    const { budgets, notMeasured } = adviceFor(published);
    expect(budgets.map(({ topic, load }) => [topic, load])).toEqual([
      ["crossing", "to the worker"],
      ["fill", "warm memory"],
    ]);
    expect(budgets[0]?.lines[0]?.budgets.map(({ kind }) => kind)).toEqual(["about", "about"]);
    expect(notMeasured.map(({ scenario }) => scenario)).toContain("published-executors");
  });

  test("lists what was not measured with its reason and the command that measures it", () => {
    const { notMeasured } = adviceFor(record());
    expect(notMeasured).toContainEqual({
      scenario: "upload",
      host: "node",
      why: "the run did not include it",
      command: "clearway lab upload --host node",
    });
    expect(notMeasured.filter(({ scenario, host }) => scenario === "students" && host === "node")).toEqual([]);
    // No mechanism of this scenario can run in a page.
    expect(notMeasured.filter(({ scenario, host }) => scenario === "memset" && host === "chromium")).toEqual([]);
  });

  test("gives the reason of a cell that failed", () => {
    const failed = cell("upload", "main-thread", { chunkBytes: 4096 }, [], { failure: "the disk is full" });
    const { notMeasured } = adviceFor(record({ cells: [failed] }));
    expect(notMeasured).toContainEqual(expect.objectContaining({ scenario: "upload", why: "the disk is full" }));
  });
});

describe("the text of advice", () => {
  const all = [channelRecord(), offloadRecord(), record()];

  test.each([40, 50, 80, 100])("fits %d columns", (width) => {
    for (const each of all)
      for (const line of adviceLines(adviceFor(each), true, width))
        expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(width);
  });

  test("says that a part was not measured, and that the run is of another machine", () => {
    const lines = adviceLines(adviceFor(channelRecord()), true, undefined);
    expect(lines).toContain("This machine is another one: ratios carry over, times do not.");
    expect(lines.join("\n")).toMatch(/When another thread pays off\n {2}not measured/);
    expect(lines.join("\n")).toMatch(/Which executor for which work\n {2}not measured/);
    expect(lines.join("\n")).toMatch(/channel-worker\/port-move +>= 1 MB +>= 1 MB +4 KB 10 us, 1 MB 10 us \(p50\)/);
    expect(lines.join("\n")).not.toMatch(/undefined|NaN/);
  });
});

describe("clearway advise", () => {
  let cli: BuiltCli;
  beforeAll(() => {
    cli = new BuiltCli();
    for (const [name, run] of Object.entries({ kept: channelRecord(), empty: record({ cells: [] }) })) {
      mkdirSync(cli.path(name));
      writeFileSync(path.join(cli.path(name), "record.json"), JSON.stringify(run));
      writeFileSync(path.join(cli.path(name), "results.json"), JSON.stringify(resultsOf(run)));
    }
  });
  afterAll(() => cli.remove());

  test("prints text, or the same as JSON", async () => {
    const { code, stdout } = await cli.run(["advise", "kept"]);
    expect(code).toBe(0);
    expect(stdout).toMatch("What fits a frame");
    const json = await cli.run(["advise", "kept", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: 1,
      fromThisMachine: false,
      budgets: [{ topic: "worker" }],
    });
  });

  test("exits with status 1 for a run without figures, and with 2 for a folder without a run", async () => {
    const empty = await cli.run(["advise", "empty"]);
    expect([empty.code, empty.stdout]).toEqual([1, expect.stringMatching("not measured")]);
    const nowhere = await cli.run(["advise", "nowhere"]);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching("nowhere/results.json does not exist")]);
  });
});
