// SPDX-License-Identifier: MIT OR Apache-2.0
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selectScenarios, UsageError } from "../src/cli/select.js";
import { loadScenarios } from "../src/scenario/load.js";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { HOST_NAMES, type ParamSet } from "../src/scenario/scenario.js";

const scenarios = loadScenarios();
const cells = planCells(scenarios, "quick", ["node", "chromium"]);

describe("the scenario files", () => {
  test("are all loaded, in the order of their families", () => {
    expect(scenarios.map(({ name }) => name)).toEqual([
      "students",
      "students-published",
      "fetch-image",
      "fetch-json",
      "crossing",
      "upload",
      "pool",
      "closed-connection",
      "http2-feed",
      "memset",
      "memset-published",
      "memset-builds",
      "memset-jvm",
      "memset-swift",
      "stream",
      "stream-published",
      "chained-hops",
      "firehose",
      "growing-queue",
      "stream-jvm",
      "firehose-jvm",
      "published-stream-jvm",
      "published-firehose-jvm",
      "stream-swift",
      "stream-published-swift",
      "chained-hops-swift",
      "growing-queue-swift",
      "codec",
      "codec-jvm",
      "codec-flutter",
      "codec-swift",
      "channel-worker",
      "channel-process",
      "channel-process-jvm",
      "channel-process-swift",
      "channel-native",
      "platform-channel",
      "channel-native-jvm",
      "channel-native-swift",
      "channel-flutter",
      "works",
      "sizes",
      "changing-site",
      "published-executors",
      "remote-call",
      "remote-durable",
    ]);
    expect(readdirSync(new URL("../scenarios", import.meta.url)).filter((name) => name.endsWith(".json"))).toHaveLength(
      scenarios.length,
    );
  });

  test("have a Clearway mechanism, a control, and settings for every mechanism", () => {
    for (const { name, mechanisms, profiles, shows, question } of scenarios) {
      // Chains of Swift's own mechanisms show how their delays add up.
      if (name !== "chained-hops-swift") expect(mechanisms.some(({ role }) => role === "clearway")).toBe(true);
      expect(mechanisms.every(({ settings }) => settings.length > 0)).toBe(true);
      expect(profiles.quick.sets.some(({ control }) => control)).toBe(true);
      expect(profiles.full.sets.some(({ control }) => control)).toBe(true);
      expect(question.endsWith("?") && shows.length > 100).toBe(true);
    }
  });

  test("have the loads that their families promise", () => {
    const full = planCells(scenarios, "full", ["node"]);
    expect(full.some(({ params }) => params["perSecond"] === 60 && params["count"] === 2000)).toBe(true);
    expect(full.some(({ params }) => params["rows"] === 100_000_000)).toBe(true);
    const chunks = full.filter(({ scenario }) => scenario.name === "upload").map(({ params }) => params["chunkBytes"]);
    const works = full.filter(({ scenario }) => scenario.name === "works").map(({ params }) => params);
    expect(new Set(works.map(({ work }) => work))).toEqual(
      new Set(["arithmetic", "lists", "storage", "network", "mixed", "bimodal"]),
    );
    expect(new Set(works.map(({ waits, order }) => `${waits} ${order}`))).toEqual(
      new Set(["none ascending", "blocking ascending", "async ascending", "blocking shuffled"]),
    );
    const values = full.filter(({ scenario }) => scenario.name === "codec").map(({ params }) => params["value"]);
    expect(new Set(values)).toEqual(new Set(["null", "int", "string", "list", "map", "2 KB", "1000 items"]));
    expect([Math.min(...(chunks as number[])), Math.max(...(chunks as number[]))]).toEqual([4096, 8 << 20]);
  });
});

describe("a plan", () => {
  test("measures every cell that can run once per round, and no other cell", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const order = planOrder(cells, seed);
        for (const cell of cells) {
          const own = order.filter((step) => step.cell === cell).map(({ round }) => round);
          const expected = cell.unavailable === undefined ? Array.from({ length: cell.rounds }, (_, i) => i) : [];
          expect(own).toEqual(expected);
        }
        expect(order.map(({ round }) => round)).toEqual(order.map(({ round }) => round).sort((a, b) => a - b));
      }),
      { numRuns: 20 },
    );
  });

  test("runs a library only on its own host, and the family offload in at least two rounds", () => {
    const offload = planCells(scenarios, "quick", HOST_NAMES).filter(({ scenario }) => scenario.family === "offload");
    const hostsOf = (name: string) =>
      new Set(offload.filter((each) => each.mechanism.name === name).map(({ host }) => host));
    expect([...hostsOf("direct")]).toEqual(["node", "jvm"]);
    expect([...hostsOf("piscina")]).toEqual(["node"]);
    expect([...hostsOf("virtual-threads")]).toEqual(["jvm"]);
    expect(offload.every(({ rounds }) => rounds >= 2)).toBe(true);
  });

  test("repeats for the same seed and differs between rounds and seeds", () => {
    const names = (seed: number, round: number) =>
      planOrder(cells, seed)
        .filter((step) => step.round === round && step.cell.rounds > 1)
        .map(({ cell }) => cells.indexOf(cell));
    expect(names(1, 0)).toEqual(names(1, 0));
    expect(names(1, 0)).not.toEqual(names(2, 0));
    expect(names(1, 0)).not.toEqual(names(1, 1));
  });

  test("has the requested number of rounds for every cell", () => {
    const asked = planCells(scenarios, "full", ["node"], {}, 2);
    const order = planOrder(asked, 1);
    expect(asked.every(({ rounds }) => rounds === 2)).toBe(true);
    const able = asked.filter(({ unavailable }) => unavailable === undefined).length;
    expect(order.map(({ round }) => round)).toEqual([...Array(able).fill(0), ...Array(able).fill(1)]);
  });

  test("has each control twice, as two cells that differ only in the mark A/A", () => {
    const twins = cells.filter(({ control }) => control);
    expect(twins.length).toBeGreaterThan(0);
    for (const twin of twins) {
      const { control, ...params } = twin.params;
      expect(control).toBe("A/A");
      const first = cells.filter(
        (cell) =>
          !cell.control &&
          cell.scenario === twin.scenario &&
          cell.host === twin.host &&
          cell.mechanism === twin.mechanism,
      );
      expect(first.map((cell) => cell.params)).toContainEqual(params);
    }
  });

  test("keeps cells that cannot run, each with a reason", () => {
    const without = planCells(scenarios, "quick", ["node", "chromium"], { chromium: "no Chromium found: install it" });
    expect(without).toHaveLength(cells.length);
    const chromium = without.filter(({ host }) => host === "chromium");
    expect(chromium.every(({ unavailable }) => unavailable !== undefined)).toBe(true);
    const emitter = cells.find(({ mechanism, host }) => mechanism.name === "event-emitter" && host === "chromium");
    expect(emitter?.unavailable).toMatch("see event-target");
  });
});

describe("names on the command line", () => {
  const names = (...what: string[]) => selectScenarios(scenarios, what).map(({ name }) => name);

  test("select families, scenarios and cells", () => {
    expect(names()).toHaveLength(scenarios.length);
    const push = [
      "stream",
      "stream-published",
      "chained-hops",
      "firehose",
      "growing-queue",
      "stream-jvm",
      "firehose-jvm",
      "published-stream-jvm",
      "published-firehose-jvm",
      "stream-swift",
      "stream-published-swift",
      "chained-hops-swift",
      "growing-queue-swift",
    ];
    expect(names("push")).toEqual(push);
    expect(names("upload", "push")).toEqual(["upload", ...push]);
    expect(names("isolate/students", "students")).toEqual(["students"]);
  });

  test("of a single cell also select the cell that it is compared with", () => {
    const [students] = selectScenarios(scenarios, ["students/clearway-columns"]);
    expect(students?.mechanisms.map(({ name }) => name)).toEqual(["worker-clone", "clearway-columns"]);
  });

  test("that are unknown are refused with the valid names", () => {
    expect(() => names("onload")).toThrow(UsageError);
    expect(() => names("onload")).toThrow(
      "Families: isolate, memory, push, channel, offload, remote. Scenarios: students",
    );
    expect(() => names("students/rx")).toThrow("Mechanisms of students: direct, worker-clone");
    expect(() => names("students/direct/more")).toThrow(UsageError);
    expect(() => names("isolate/nothing")).toThrow(UsageError);
  });
});

describe("the sets of the channel scenarios", () => {
  test("give the same reasons in both profiles for mechanisms that cannot send a payload", () => {
    const key = ({ params }: ParamSet) =>
      JSON.stringify(["direction", "channel", "codec", "payload"].map((name) => params[name]));
    for (const { name, profiles } of loadScenarios().filter((each) => each.name.startsWith("channel-"))) {
      const reasons = new Map(profiles.full.sets.map((set) => [key(set), set.unavailable]));
      for (const set of profiles.quick.sets.filter((each) => reasons.has(key(each))))
        expect([name, set.params["payload"], set.unavailable]).toEqual([
          name,
          set.params["payload"],
          reasons.get(key(set)),
        ]);
    }
  });
});
