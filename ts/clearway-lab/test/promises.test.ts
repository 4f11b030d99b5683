// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the profile `promises`: its scenarios, its run on fake hosts, and its results.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { selectPromises } from "../src/cli/promises.js";
import { Collector } from "../src/promises/collector.js";
import { measurements as built } from "../src/promises/measurements/measurements.js";
import { type PromiseRun, promiseResults } from "../src/promises/results.js";
import {
  measurePromises,
  type PromiseHosts,
  plannedMeasurements,
  type ScenarioMeasurement,
} from "../src/promises/run.js";
import {
  amountsOf,
  loadPromiseScenarios,
  PROMISE_PROFILES,
  type PromiseScenario,
  verdict,
} from "../src/promises/scenario.js";
import { promiseTable } from "../src/promises/table.js";
import { assertResults } from "../src/run/schema.js";
import { bestOf, quantile, ratio, shuffler } from "../src/statistics/rounds.js";

const scenarios = loadPromiseScenarios();
const folder = mkdtempSync(path.join(tmpdir(), "clearway-promises-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const finishedRun: PromiseRun = {
  profile: "promises",
  seed: 1,
  startedAt: "2026-01-01T00:00:00.000Z",
  durationMs: 5,
  planned: 2,
  done: 2,
  interrupted: false,
  runtimes: { node: "Node v20", chromium: "Chromium 1" },
  machine: {
    os: "Linux",
    arch: "x64",
    cpu: "a processor",
    cores: 8,
    memoryGb: 16,
    governor: "performance",
    virtual: "no sign of one",
    loadBefore: 0,
    stealPercent: 0,
  },
  build: { lab: "1", clearway: "1", node: "v20", v8: "11", chromium: null, commit: null, nodeOptions: "", peers: {} },
};

function results() {
  const collector = new Collector(scenarios);
  const mechanism = { name: "clearway", role: "clearway", settings: "pool(url)" } as const;
  collector.addMeasurement("call", "node", mechanism, { gapMs: 0 }, { latency: { unit: "us", samples: [1, 2, 3] } });
  collector.addMissingMeasurement("call", "node", { name: "osra", role: "peer" }, {}, "it needs a newer Node");
  const compared = { mechanism: "clearway", over: "comlink", state: "on two cores", detail: "30 us over 1" };
  collector.addPromise("call-over-peer", "node", compared, ratio([30, 40, 50], [1, 2, 2]));
  collector.addPromise("gap-over-bare", "node", { mechanism: "clearway" }, ratio([30, 40], [10, 10]));
  collector.addMissingPromise("scan-column", "chromium", { mechanism: "records" }, "there are none");
  collector.addNoise("call", "node", "postMessage", { state: "free", gapMs: 0 }, 1.31, 15);
  return promiseResults(finishedRun, collector);
}

describe("the scenarios of the profile promises", () => {
  test("all have code that measures them, and each promise occurs once", () => {
    expect(Object.keys(built).sort()).toEqual(scenarios.map(({ name }) => name).sort());
    const ids = scenarios.flatMap(({ promises }) => promises.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("keep the order of the table, whatever the order of their names", () => {
    expect(scenarios.map(({ name }) => name).slice(0, 3)).toEqual(["call", "flight", "students"]);
    expect(selectPromises(scenarios, ["scan", "call"]).map(({ name }) => name)).toEqual(["call", "scan"]);
  });

  test("take another number of rounds, except in a profile that leaves them out", () => {
    const huge = scenarios.find(({ name }) => name === "students-huge") as PromiseScenario;
    const frames = scenarios.find(({ name }) => name === "frames") as PromiseScenario;
    expect(amountsOf(huge, "promises", 7)).toEqual({ rounds: 0 });
    expect(amountsOf(huge, "promises-full", 7)).toEqual({ rounds: 7 });
    expect(amountsOf(frames, "promises", 7)).toEqual({ ...frames.profiles.promises, eventRounds: 7 });
    for (const profile of PROMISE_PROFILES) expect(amountsOf(frames, profile)).toBe(frames.profiles[profile]);
  });

  test.each([
    ["hosts", { hosts: [] }, "no hosts: name=call"],
    ["promises", { promises: [] }, "no promises: name=call"],
    [
      "a target",
      { promises: [{ id: "a", what: "", sense: "at most", unit: "ratio" }] },
      "a target needs a sense: id=a",
    ],
    ["a profile", { profiles: { promises: {} } }, "no amounts: profile=promises-full"],
  ])("are refused without %s, with the name of the file", (what, change, message) => {
    const own = path.join(folder, what.replaceAll(" ", "-"));
    mkdirSync(own);
    writeFileSync(path.join(own, "call.json"), JSON.stringify({ ...scenarios[0], ...change }));
    expect(() => loadPromiseScenarios(own)).toThrow(`promises/call.json: ${message}`);
  });

  test("are listed in the error for an unknown name", () => {
    expect(() => selectPromises(scenarios, ["call", "calls"])).toThrow(
      /^unknown scenario "calls" in the profile promises. Scenarios: call, flight, /,
    );
  });
});

describe("a run of the profile promises", () => {
  const few = selectPromises(scenarios, ["scan", "start", "codec"]);
  const plan = { scenarios: few, hosts: ["node", "chromium"], profile: "promises", seed: 3 } as const;
  const hosts: PromiseHosts = {
    probe: async (host, name, params) => ({ host, name, ...params }),
    problems: {},
    nativeFiles: () => ({ why: "there is no compiler" }),
  };
  const enter =
    (id: string): ScenarioMeasurement =>
    async ({ host, collector, amounts, seed }) => {
      expect(await host.probe("x", { seed })).toEqual({ host: host.name, name: "x", seed: 3 });
      collector.addPromise(id, host.name, { mechanism: "clearway" }, ratio([amounts["rounds"] as number], [1]));
    };
  const fakes = { scan: enter("scan-column"), start: enter("start-over-bare"), codec: enter("codec-over-peer") };
  const reported: string[] = [];

  async function run(
    changed: Partial<Record<string, ScenarioMeasurement>>,
    change: Partial<PromiseHosts> = {},
    signal?: AbortSignal,
  ) {
    const collector = new Collector(few);
    reported.length = 0;
    const done = await measurePromises(
      plan,
      { ...fakes, ...changed } as Record<string, ScenarioMeasurement>,
      { ...hosts, ...change },
      collector,
      signal ?? new AbortController().signal,
      (host, scenario, failure) => reported.push(`${host} ${scenario} ${failure?.message ?? "ok"}`),
    );
    const lines = collector.cells.map(({ host, scenario, status, why }) => `${host} ${scenario} ${why ?? status}`);
    return { done, lines };
  }

  test("measures each scenario on each of its hosts, one after the other", async () => {
    expect(plannedMeasurements(plan)).toHaveLength(5);
    const { done, lines } = await run({});
    expect(done).toBe(5);
    expect(lines).toEqual([
      "node scan-column ok",
      "node start-over-bare ok",
      "node codec-over-peer ok",
      "chromium scan-column ok",
      "chromium start-over-bare ok",
    ]);
  });

  test.each([
    ["an Error", new Error("no memory\nat x"), "no memory"],
    ["anything else", "no memory", "no memory"],
  ])("continues after a scenario that throws %s, and names the promises without a figure", async (_, thrown, why) => {
    const start: ScenarioMeasurement = async () => {
      throw thrown;
    };
    const { done, lines } = await run({ start });
    expect(done).toBe(3);
    expect(lines.filter((line) => line.includes("start-over-bare"))).toEqual([
      `node start-over-bare ${why}`,
      `chromium start-over-bare ${why}`,
    ]);
    expect(reported).toContain("node codec ok");
  });

  test("keeps the figures that a scenario entered before it threw", async () => {
    const scan: ScenarioMeasurement = async (context) => {
      await fakes.scan(context);
      throw new Error("late");
    };
    const { lines } = await run({ scan });
    expect(lines.slice(0, 2)).toEqual(["node scan-column ok", "node scan-chunk-cursors late"]);
  });

  test("gives the reason for a host without a browser", async () => {
    const { done, lines } = await run({}, { problems: { chromium: "no Chromium found" } });
    expect(done).toBe(3);
    expect(lines.slice(3)).toEqual([
      "chromium scan-column no Chromium found",
      "chromium scan-chunk-cursors no Chromium found",
      "chromium start-over-bare no Chromium found",
    ]);
  });

  test("stops after an interruption without reporting a failure", async () => {
    const interruption = new AbortController();
    const start: ScenarioMeasurement = async () => {
      interruption.abort();
      throw new Error("the runner ended: code=null signal=SIGKILL");
    };
    const { done, lines } = await run({ start }, {}, interruption.signal);
    expect(done).toBe(1);
    expect(lines[0]).toBe("node scan-column ok");
    for (const line of lines.slice(1)) expect(line).toMatch(/ the run was interrupted$/);
    expect(reported).toEqual(["node scan ok", "node start ok"]);
  });
});

describe("an interruption", () => {
  test("starts no further process of a scenario that survives failed ones", async () => {
    const interruption = new AbortController();
    const asked: string[] = [];
    const probe = async (_: string, name: string) => {
      asked.push(name);
      if (name === "list") return ["clearway", "postMessage"].map((each) => ({ name: each, role: "reference" }));
      interruption.abort();
      throw new Error("the runner ended: code=null signal=SIGKILL");
    };
    const flight = selectPromises(scenarios, ["flight"]);
    const plan = { scenarios: flight, hosts: ["node"], profile: "promises", seed: 3 } as const;
    const hosts: PromiseHosts = { probe, problems: {}, nativeFiles: () => ({ why: "" }) };
    const collector = new Collector(flight);
    const done = await measurePromises(plan, built, hosts, collector, interruption.signal, () => {});
    expect(done).toBe(0);
    expect(asked).toEqual(["list", "list", "flight"]);
    expect(collector.cells.map(({ family, why }) => `${family} ${why}`)).toEqual([
      "promise the run was interrupted",
      "promise the run was interrupted",
    ]);
  });

  test("refuses every probe that a scenario asks for afterwards", async () => {
    const interruption = new AbortController();
    const start = selectPromises(scenarios, ["start"]);
    const plan = { scenarios: start, hosts: ["node"], profile: "promises", seed: 3 } as const;
    let asked = 0;
    const hosts: PromiseHosts = { probe: async () => ++asked, problems: {}, nativeFiles: () => ({ why: "" }) };
    const measure: ScenarioMeasurement = async ({ host }) => {
      await host.probe("start", {});
      interruption.abort();
      await expect(host.probe("start", {})).rejects.toThrow("aborted");
      throw new Error("over");
    };
    await measurePromises(plan, { start: measure }, hosts, new Collector(start), interruption.signal, () => {});
    expect(asked).toBe(1);
  });
});

describe("promises.json", () => {
  test("matches the schema of results.json, and so does the kept run", () => {
    expect(() => assertResults(results())).not.toThrow();
    const kept = fileURLToPath(new URL("../../../lab/records/promises.json", import.meta.url));
    expect(() => assertResults(JSON.parse(readFileSync(kept, "utf8")))).not.toThrow();
  });

  test("has the promise, its target, and whether it is met", () => {
    const [, , met, missed] = results().cells;
    expect(met).toMatchObject({
      family: "promise",
      scenario: "call-over-peer",
      params: { asked: 15, sense: "at least", verdict: "met" },
      metrics: { figure: { unit: "ratio", value: 25 }, p25: { value: 20 } },
    });
    expect(missed).toMatchObject({ params: { asked: 1.1, verdict: "missed" } });
  });

  test("warns of few rounds and of a high noise floor, each with a next step", () => {
    expect(results().warnings.map(({ code }) => code)).toEqual(["noise-high", "few-rounds"]);
    expect(results().warnings[0]?.message).toContain("(free, gap 0 ms) differed by a factor of 1.31 (node)");
  });

  test("refuses a promise that no scenario has", () => {
    const collector = new Collector(scenarios);
    expect(() => collector.addMissingPromise("call-over-pear", "node", { mechanism: "clearway" }, "")).toThrow(
      "id=call-over-pear",
    );
  });
});

describe("the table of promises", () => {
  test("has one part for each host, contains only the cells, and gives the reason for a missing figure", () => {
    const printed = promiseTable(results());
    expect(printed).toContain("**Node v20**");
    expect(printed).toContain("against comlink; on two cores) | at least 15 | 25 (20 to 30); 30 us over 1 | met |");
    expect(printed).toContain("**Chromium 1**");
    expect(printed).toContain("unavailable: there are none");
  });

  test("counts a figure on the limit as met", () => {
    expect(verdict({ sense: "at least", value: 15 }, 15)).toBe("met");
    expect(verdict({ sense: "at most", value: 1.1 }, 1.11)).toBe("missed");
    expect(verdict({ sense: "told" }, 7)).toBe("told");
  });
});

describe("the statistics of rounds", () => {
  test("compare within rounds, so that a slow round cancels out", () => {
    expect(ratio([10, 100, 10], [5, 50, 5])).toEqual({ median: 2, p25: 2, p75: 2, rounds: 3 });
  });

  test("leave out rounds that only one side has", () => {
    expect(ratio([10, 100, 10, 7], [5, 50])).toMatchObject({ median: 2, rounds: 2 });
    expect(ratio([10], [5, 50])).toMatchObject({ median: 2, rounds: 1 });
  });

  test("choose the best series by its median", () => {
    const series = { slow: [3, 3, 30], fast: [2, 2, 90] };
    expect(bestOf(series, "low")).toBe("fast");
    expect(bestOf(series, "high")).toBe("slow");
    expect(bestOf({}, "low")).toBeUndefined();
  });

  test("repeat their orders for the same seed", () => {
    const orders = (seed: number) => {
      const shuffle = shuffler(seed);
      return [shuffle([1, 2, 3, 4, 5]), shuffle([1, 2, 3, 4, 5])];
    };
    expect(orders(5)).toEqual(orders(5));
    expect(orders(5)).not.toEqual(orders(6));
  });

  test("refuse a quantile without samples", () => {
    expect(() => quantile([], 0.5)).toThrow("numbers.length=0");
  });
});
