// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { asked, verdict } from "../../bench/asked.mjs";
import { promisesOf } from "../../bench/line/lines.mjs";
import { assemble, assertResults, before } from "../../bench/results/assemble.mjs";
import { collector } from "../../bench/results/collect.mjs";
import { table } from "../../bench/results/table.mjs";
import { distribution, ratio } from "../../bench/statistics.mjs";

function run() {
  const collect = collector();
  const subject = { name: "clearway", role: "clearway", settings: "pool(url)" };
  collect.measured("call", "node", subject, { gapMs: 0 }, { latency: { unit: "us", samples: [1, 2, 3] } });
  collect.absent("call", "node", { name: "osra", role: "peer" }, {}, "it needs a newer Node");
  const about = { of: "clearway", over: "comlink", state: "on two cores", detail: "30 us over 1" };
  collect.promise("call-over-peer", "node", about, ratio([30, 40, 50], [1, 2, 2]));
  collect.promise("gap-over-bare", "node", { of: "clearway" }, ratio([30, 40], [10, 10]));
  collect.unmeasured("scan-column", "chromium", { of: "records" }, "there are none");
  const runtimes = { node: "Node v20", chromium: "Chromium 1" };
  const { cells, noiseFloor } = collect;
  const known = before();
  return assemble({
    known,
    profile: "quick",
    seed: 1,
    planned: 2,
    done: 2,
    interrupted: false,
    runtimes,
    cells,
    noiseFloor,
  });
}

describe("bench.json", () => {
  test("keeps to the schema of results.json", async () => {
    await expect(assertResults(run())).resolves.toBeUndefined();
    await expect(assertResults({ ...run(), version: 2 })).rejects.toThrow("/version");
  });

  test("as committed keeps to it too", async () => {
    const committed = JSON.parse(readFileSync(new URL("../../bench/results.json", import.meta.url), "utf8"));
    await expect(assertResults(committed)).resolves.toBeUndefined();
  });

  test("has the promise, what was asked, and whether it is met", () => {
    const [, , met, missed] = run().cells;
    expect(met).toMatchObject({
      family: "promise",
      scenario: "call-over-peer",
      params: { asked: 15, sense: "at least", verdict: "met" },
      metrics: { figure: { unit: "ratio", value: 25 }, p25: { value: 20 } },
    });
    expect(missed).toMatchObject({ params: { asked: 1.1, verdict: "missed" } });
  });
});

describe("the table", () => {
  test("is one a host, made from the cells alone, and says why where there is no figure", () => {
    const printed = table(run());
    expect(printed).toContain("**Node v20**");
    expect(printed).toContain("against comlink; on two cores) | at least 15 | 25 (20 to 30); 30 us over 1 | met |");
    expect(printed).toContain("**Chromium 1**");
    expect(printed).toContain("unavailable: there are none");
  });

  test("has a line for everything that is asked", () => {
    expect(Object.values(promisesOf).flat().sort()).toEqual(Object.keys(asked).sort());
  });

  test("takes a figure on the asked side, the limit included, for met", () => {
    expect(verdict({ sense: "at least", value: 15 }, 15)).toBe("met");
    expect(verdict({ sense: "at most", value: 1.1 }, 1.11)).toBe("missed");
    expect(verdict(asked["call-over-bare"], 7)).toBe("told");
  });
});

describe("the statistics", () => {
  test("compare within rounds, so that a slow round cancels out", () => {
    expect(ratio([10, 100, 10], [5, 50, 5])).toEqual({ median: 2, p25: 2, p75: 2, rounds: 3 });
  });

  test("name the quantiles that a sample cannot carry", () => {
    const thousand = distribution(
      Array.from({ length: 1000 }, (_, at) => at),
      "us",
    );
    expect(thousand).toMatchObject({
      n: 1000,
      min: 0,
      p50: 500,
      p90: 900,
      max: 999,
      unsupported: ["p1", "p99", "p999"],
    });
  });
});
