// SPDX-License-Identifier: MIT OR Apache-2.0
import { JSDOM } from "jsdom";
import { describe, expect, test } from "vitest";
import { summary, WIDTH_MAX } from "../src/cli/terminal.js";
import { adviceOf } from "../src/report/offload/advice.js";
import { regretGrid } from "../src/report/offload/columns.js";
import { offloadLines } from "../src/report/offload/lines.js";
import { regretText, shortRegret } from "../src/report/offload/regret-table.js";
import { worstSentence } from "../src/report/offload/worst.js";
import { reportHtml } from "../src/report/report.js";
import { resultsOf } from "../src/run/results.js";
import { assertResults } from "../src/run/schema.js";
import { JVM_WORKS, offloadRecord, WORKS } from "./offload-record.js";

const run = offloadRecord();
const results = resultsOf(run);
const page = new JSDOM(reportHtml(results, run)).window.document;

describe("regret by work", () => {
  test("is sorted by each strategy's worst regret, for each host", () => {
    const node = regretGrid(run, "node", "warm");
    expect(node.columns.map(({ label }) => label)).toEqual([
      "arithmetic",
      "lists",
      "storage, blocking",
      "network, async",
    ]);
    // A strategy without a figure for some work has no worst regret and comes last.
    expect(node.rows.map(({ cell }) => cell.mechanism)).toEqual([
      "piscina-tuned",
      "direct",
      "piscina",
      "clearway-worker",
      "promises",
    ]);
    expect(node.rows.map(({ worst }) => worst?.ratio.toFixed(1))).toEqual([
      "20.0",
      "53.9",
      "500.0",
      undefined,
      undefined,
    ]);
    const jvm = regretGrid(run, "jvm", "warm");
    expect(jvm.columns.map(({ label }) => label)).toEqual(["arithmetic", "storage, blocking, shuffled"]);
    expect(jvm.rows[0]).toMatchObject({
      cell: { mechanism: "clearway-adaptive" },
      worst: { ratio: expect.closeTo(1.05, 2) },
    });
  });

  test("uses the rounds that every strategy completed when a run was cut short", () => {
    const cut = (rounds: (mechanism: string) => number) => ({
      ...run,
      interrupted: true,
      cells: run.cells.map((cell) => ({ ...cell, rounds: cell.rounds.slice(0, rounds(cell.mechanism)) })),
    });
    const whole = regretGrid(
      cut(() => 2),
      "jvm",
      "warm",
    );
    // Only virtual threads finished a third round. This must not make them the best strategy.
    const late = regretGrid(
      cut((mechanism) => (mechanism === "virtual-threads" ? 3 : 2)),
      "jvm",
      "warm",
    );
    const figures = (grid: typeof whole) => grid.rows.map(({ cell, regrets }) => [cell.mechanism, regrets]);
    expect(figures(late)).toEqual(figures(whole));
    expect(late.rows[0]?.cell.mechanism).toBe("clearway-adaptive");
  });

  test("differs on a cold pool", () => {
    const [arithmetic] = regretGrid(run, "node", "cold").columns;
    expect(arithmetic?.regrets.get("piscina")?.ratio).toBeGreaterThan(5000);
  });

  test("names the worst regret of the best single strategy, and that of the adaptive one", () => {
    expect(worstSentence(run, "jvm", "warm")).toEqual([
      "For 2 kinds of work on the JVM, on warm pools, the best strategy that is not adaptive, virtual threads, took up to 48 times as long as the best choice for each kind (arithmetic); Clearway adaptive took up to 1.05 times as long (arithmetic).",
    ]);
    expect(worstSentence(run, "chromium", "warm")).toEqual([]);
  });

  test("marks a figure whose batches still got faster", () => {
    const cells = run.cells.map((cell) => {
      if (cell.mechanism !== "clearway-adaptive" || cell.params["work"] !== "arithmetic") return cell;
      const rounds = cell.rounds.map(({ measurement, ...round }) => {
        const values = { ...measurement.values, warmUpCut: { unit: "ms" as const, value: 25 } };
        return { ...round, measurement: { ...measurement, values } };
      });
      return { ...cell, rounds };
    });
    expect(worstSentence({ ...run, cells }, "jvm", "warm")[0]).toMatch(
      /\(arithmetic\); Clearway adaptive took up to 1\.05 times as long \(arithmetic, still getting faster\)\.$/,
    );
    expect(worstSentence({ ...run, cells }, "jvm", "cold")[0]).not.toContain("getting faster");
  });
});

test("a regret has as many digits as fit", () => {
  expect([1.044, 3.44, 47.6, 14_313].map(regretText)).toEqual(["1.04", "3.4", "48", "14\u202f313"]);
  expect([1.044, 9.96, 47.6, 1432, 14_313].map(shortRegret)).toEqual(["1.0", "10", "48", "1.4k", "14k"]);
});

describe("the advice", () => {
  const said = Object.fromEntries(adviceOf(results, run, "node").map(({ work, sentence }) => [work, sentence]));

  test("is one sentence for each work, with the place to run it and the costs of the other strategies", () => {
    expect(Object.keys(said)).toHaveLength(WORKS.length);
    expect(adviceOf(results, run, "jvm")).toHaveLength(JVM_WORKS.length);
    expect(said["arithmetic"]).toBe(
      "run it on the calling thread: direct took 0.004 ms for 100 actions; Piscina tuned 20 times as long, Clearway, in workers 225 times as long and Piscina as it comes 500 times as long.",
    );
    expect(said["network, async"]).toMatch(
      /^run it on the calling thread and await all actions together: promises took 10.2 ms/,
    );
    expect(said["storage, blocking"]).toMatch(/^run it on as many threads as cores: Clearway, in workers took 14.8 ms/);
  });

  test("reports no difference between strategies that differ less than the noise", () => {
    expect(said["lists"]).toMatch("direct took 1 ms for 100 actions, no difference seen to Piscina tuned;");
  });

  test("names the fastest strategy on a cold pool when the warm pool's fastest is far slower there", () => {
    expect(said["storage, blocking"]).not.toMatch("cold pool");
    expect(said["network, async"]).not.toMatch("cold pool");
    const cold = offloadRecord();
    for (const each of cold.cells.filter(({ mechanism }) => mechanism === "clearway-worker"))
      for (const { measurement } of each.rounds) measurement.values["coldBatch"] = { unit: "ms", value: 900 };
    const [, , storage] = adviceOf(resultsOf(cold), cold, "node");
    expect(storage?.sentence).toMatch(/; on a cold pool Piscina tuned is fastest with 75 ms\.$/);
  });
});

describe("the page", () => {
  const section = (name: string) => page.querySelector(`section#${name}`);

  test("has a warm and a cold heat map for each host, with every figure printed and the best framed", () => {
    const maps = [...(section("works")?.querySelectorAll(".chart") ?? [])];
    expect(maps).toHaveLength(4);
    const [warm] = maps;
    const wide = warm?.querySelector("svg.wide");
    const texts = [...(wide?.querySelectorAll("text") ?? [])].map(({ textContent }) => textContent);
    for (const figure of ["1.00", "20", "500", "54"]) expect(texts).toContain(figure);
    expect(wide?.querySelectorAll('rect[fill="none"], g[fill="none"] rect').length).toBeGreaterThanOrEqual(4);
    expect(wide?.getAttribute("aria-label")).toMatch("time as a multiple of the best strategy's for each kind of work");
    expect(section("works")?.querySelectorAll("script")).toHaveLength(0);
  });

  test("has the heat map's figures as a table, with the worst regret of each strategy", () => {
    const table = section("works")?.querySelector("details table");
    const heads = [...(table?.querySelectorAll("thead th") ?? [])].map(({ textContent }) => textContent);
    expect(heads.slice(1).map((text) => text?.replace("regret", ""))).toEqual([
      "arithmetic",
      "lists",
      "storage, blocking",
      "network, async",
      "worst",
    ]);
    expect(table?.querySelector("tbody tr")?.textContent).toMatch(/^Piscina tuned20/);
  });

  test("names the crossover of each strategy and draws the sizes with a symbol for each line", () => {
    expect(section("sizes")?.textContent).toMatch(
      /A batch of computing tasks in Node is faster than on the calling thread with Piscina as it comes from \d\d(\.\d)? µs on, with Clearway, in workers at no size\./,
    );
    expect(section("sizes")?.querySelectorAll(".legend .key")).toHaveLength(5);
  });

  test("says how soon each strategy adapted to a change", () => {
    expect(section("changing-site")?.textContent).toMatch(
      "A site that computes, then waits, then computes again on the JVM: Clearway adaptive finished all batches first, in 30 ms; it adapted after 1 batch when the site began to wait and after 2 batches when it computed again",
    );
  });

  test("greys the regret of a single round, because the best was chosen in the same round", () => {
    const once = offloadRecord();
    for (const each of once.cells) each.rounds = each.rounds.slice(0, 1);
    const found = new JSDOM(reportHtml(resultsOf(once), once)).window.document;
    expect(found.querySelectorAll("section#works details td.doubtful").length).toBeGreaterThan(0);
    expect(section("works")?.querySelectorAll("details td.doubtful")).toHaveLength(0);
  });
});

describe("the terminal", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character.
  const text = summary(results, run).replace(/\u001b\[\d+m/g, "");

  test("has one line for each work, the crossover and the changing site of each host, and no table of the family", () => {
    const [node, jvm] = offloadLines(results, run);
    expect([node?.title, node?.lines.length]).toEqual(["offload on Node", WORKS.length + 2]);
    expect([jvm?.title, jvm?.lines.length]).toEqual(["offload on JVM", JVM_WORKS.length + 2]);
    expect(text).toMatch("- arithmetic: run it on the calling thread: direct took 0.004 ms");
    expect(text).not.toMatch(/^works, on node/m);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(WIDTH_MAX);
  });

  test("prints nothing about a family that was not run", () => {
    const without = offloadRecord({ cells: [] });
    expect(offloadLines(resultsOf(without), without)).toEqual([]);
  });
});

test("results of offload cells match their schema, on Node and the JVM", () => {
  expect(() => assertResults(results)).not.toThrow();
  expect(results.cells.some(({ host }) => host === "jvm")).toBe(true);
});
