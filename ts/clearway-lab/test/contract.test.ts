// SPDX-License-Identifier: MIT OR Apache-2.0
// The contract of the runner protocol: one suite for all real runners. Each runner is a separate process.

import { execFileSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CellRequest } from "../src/protocol/message.js";
import { RunnerClient, type RunnerCommand } from "../src/runner/client.js";
import { findJvmRunner, JVM_MISSING } from "../src/runner/runners.js";
import { loadScenarios } from "../src/scenario/scenario.js";
import { decodeHistogram } from "../src/statistics/distribution.js";
import { builtLab, here } from "./built-cli.js";

// Time limit for a build, in milliseconds. While other builds run, Maven is slow even if it compiles nothing.
const BUILD_MS = 600_000;

const runners = {
  node: {
    scenario: "stream",
    build: () => void builtLab(),
    command: (): RunnerCommand => ({ command: process.execPath, args: [path.join(builtLab(), "runner-node.js")] }),
  },
  jvm: {
    scenario: "published-stream-jvm",
    build: () => execFileSync(process.execPath, [here("../../../scripts/jvm-lab.mjs")]),
    command: (): RunnerCommand => {
      const found = findJvmRunner();
      if (typeof found === "string") throw new Error(found);
      return found;
    },
  },
};

const PUSH = { warmUpMs: 10, count: 50, payloadBytes: 8, receiver: "idle" };
const CHANNEL = { direction: "host to native", channel: "message", codec: "standard", messages: 3 };

/** Small loads of the scenarios of the published experiments. The last scenario switches V8's optimising compiler off. */
const SMALL: Record<string, CellRequest["params"][]> = {
  "students-published": [
    { rows: 50, last: 50, content: "distinct rows" },
    { rows: 50, last: 1, content: "one shared object" },
  ],
  "fetch-json": [{ rows: 50 }],
  crossing: [
    { direction: "to the worker", bytes: 5000, crossings: 2 },
    { direction: "from the worker", bytes: 5000, crossings: 2 },
  ],
  "closed-connection": [{ calls: 1 }],
  "http2-feed": [
    { direction: "from the server", chunkBytes: 30_000, feedBytes: 100_000 },
    { direction: "to the server", chunkBytes: 30_000, feedBytes: 100_000 },
  ],
  "stream-published": [{ ...PUSH, loop: "closed", perSecond: 1000 }],
  "growing-queue": [{ ...PUSH, loop: "closed", perSecond: 0 }],
  "chained-hops": [{ ...PUSH, loop: "open", perSecond: 1000 }],
  "platform-channel": [
    { ...CHANNEL, payload: "null" },
    { ...CHANNEL, payload: "2 KB" },
    { ...CHANNEL, codec: "binary", payload: "1 MB" },
    { ...CHANNEL, channel: "method", payload: "null" },
    { ...CHANNEL, channel: "method", codec: "json", payload: "null" },
    { ...CHANNEL, direction: "native to host", payload: "2 KB" },
  ],
  "memset-published": [
    { bytes: 65_536, memory: "warm", repetitions: 3, timeMsMax: 1000 },
    { bytes: 65_536, memory: "fresh", repetitions: 3, timeMsMax: 1000 },
  ],
  "memset-builds": [{ bytes: 65_536, memory: "warm", repetitions: 3, timeMsMax: 1000 }],
};

/** The mechanisms of a scenario that other tests do not carry out. Default: all. */
const OWN: Record<string, string[]> = {
  "stream-published": ["worker-postmessage", "clearway-stream"],
  "growing-queue": ["worker-postmessage", "clearway-stream"],
  "chained-hops": ["three-hops", "worker-three-hops", "clearway-three-hops"],
  "memset-published": ["c-malloc", "c-malloc-mapped", "loop", "clearway-number"],
};

/** Returns whether a cell is not carried out: records have no shared objects, and some mechanisms have tests elsewhere. */
function isLeftOut({ scenario, mechanism, params }: CellRequest): boolean {
  const isOther = OWN[scenario]?.includes(mechanism) === false;
  return isOther || (mechanism === "clearway-records" && params["content"] === "one shared object");
}

describe.each(Object.entries(runners))("the runner of %s", (host, { scenario, build, command }) => {
  let runner: RunnerClient;
  beforeAll(() => {
    build();
    runner = new RunnerClient(command());
  }, BUILD_MS);
  afterAll(() => runner.close());

  const cell = (mechanism: string, perSecond: number, expected: CellRequest["expected"]): CellRequest => {
    const params = { warmUpMs: 50, perSecond, count: 50, payloadBytes: 8, receiver: "idle" };
    return { family: "push", scenario, mechanism, params, expected };
  };
  const right = { received: "$count", outOfOrder: 0 };

  test("describes itself and lists its mechanisms", async () => {
    const { mechanisms, ...facts } = await runner.describe();
    expect(facts).toMatchObject({ protocol: 1, host });
    expect(facts.clockStepUs).toBeGreaterThan(0);
    expect(mechanisms).toContainEqual({ scenario, mechanism: "direct" });
  });

  test("verifies a cell by the result of its work", async () => {
    const { verified, result } = await runner.verify(cell("direct", 0, right), 60_000);
    expect([verified, result]).toEqual([true, { received: 50, outOfOrder: 0 }]);
  });

  test("measures samples with a histogram that the lab reads, and values with units", async () => {
    const { samples, notes } = await runner.measure(cell("direct", 5_000, right), 60_000);
    const latency = samples["latency"];
    expect(latency).toMatchObject({ unit: "us", n: 50 });
    expect(latency?.raw).toHaveLength(50);
    const histogram = decodeHistogram(latency?.hdr ?? "");
    expect(histogram.totalCount).toBe(50);
    // The histogram keeps three significant digits of the largest sample.
    expect(histogram.maxValue / Math.max(1, ...(latency?.raw ?? []))).toBeCloseTo(1, 2);
    expect(notes).toEqual([]);
    const { values } = await runner.measure(cell("direct", 0, right), 60_000);
    expect(values["throughput"]?.unit).toBe("events/s");
  });

  test("refuses to measure a wrong result or an unknown mechanism, and stays usable", async () => {
    await expect(runner.measure(cell("direct", 0, { received: 51 }), 60_000)).rejects.toThrow(
      "the work gave a wrong result: result.received: expected 51, got 50",
    );
    await expect(runner.measure(cell("direkt", 0, right), 60_000)).rejects.toThrow(/no such .*direkt.*direct/);
    expect((await runner.verify(cell("direct", 0, right), 60_000)).verified).toBe(true);
  });

  // This test runs on the JVM only, because other tests cover Node's mechanisms. Each mechanism runs in a separate JVM.
  test.runIf(host === "jvm")(
    "fills memory by every available mechanism, and gives the reason for the others",
    async () => {
      const { mechanisms } = await runner.describe();
      const own = mechanisms.filter((each) => each.scenario === "memset-jvm");
      const { mechanisms: wanted } = loadScenarios().find(({ name }) => name === "memset-jvm") ?? { mechanisms: [] };
      expect(own.map(({ mechanism }) => mechanism).sort()).toEqual(wanted.map(({ name }) => name).sort());
      const params = { bytes: 65_536, memory: "fresh", repetitions: 3, timeMsMax: 1000 };
      for (const { scenario, mechanism, unavailable } of own) {
        if (unavailable !== undefined) expect(unavailable).toMatch(/node scripts|JDK/);
        else {
          const request = { family: "memory", scenario, mechanism, params, expected: { filled: true } };
          expect((await runner.verify(request, 60_000)).result).toEqual({ filled: true });
        }
      }
    },
    120_000,
  );

  test.runIf(host === "jvm")(
    "verifies every published way, and counts objects and threads",
    async () => {
      const { mechanisms } = await runner.describe();
      const scenario = loadScenarios().find(({ name }) => name === "published-executors")!;
      const own = mechanisms.filter((each) => each.scenario === scenario.name);
      expect(own.map(({ mechanism }) => mechanism).sort()).toEqual(scenario.mechanisms.map(({ name }) => name).sort());
      const request = (mechanism: string, work: string, actions: number, checksum: number): CellRequest => {
        const params = { work, actions, checksum, warmMs: 0, runs: 1, runsMs: 0, countMs: 1000 };
        return { family: "offload", scenario: scenario.name, mechanism, params, expected: scenario.expected };
      };
      // The first eight seeds have all works: 0 and 5 network, 3 and 6 storage, 2 and 4 lists, 1 and 7 arithmetic.
      for (const { mechanism, unavailable } of own) {
        if (unavailable !== undefined) expect(unavailable).toMatch(/JDK/);
        else expect((await runner.verify(request(mechanism, "mixed", 8, 1017), 60_000)).verified).toBe(true);
      }
      const { values, notes } = await runner.measure(request("rxjava-single", "lists", 100, 4753), 60_000);
      expect(values["threads"]).toEqual({ unit: "count", value: 1 });
      // Without a C compiler, the runner says that it does not count.
      if (notes.length > 0)
        expect([values["allocations"], notes[0]]).toEqual([
          undefined,
          expect.stringMatching(/not counted: .*C compiler/),
        ]);
      // Each of the 4753 entries of the results is an object, and so is each of the hundred Completables.
      else expect(values["allocations"]?.value).toBeGreaterThanOrEqual(4853);
    },
    120_000,
  );

  test.runIf(host === "jvm")(
    "verifies the published loop and its chains",
    async () => {
      const { mechanisms } = await runner.describe();
      for (const name of ["published-stream-jvm", "published-firehose-jvm"]) {
        const scenario = loadScenarios().find((each) => each.name === name)!;
        const own = mechanisms.filter((each) => each.scenario === name).map(({ mechanism }) => mechanism);
        expect([...own].sort()).toEqual(scenario.mechanisms.map((each) => each.name).sort());
        const perSecond = name === "published-stream-jvm" ? 1000 : 0;
        for (const mechanism of own.filter((each) => each.startsWith("chain-") || each === "direct")) {
          const { result } = await runner.verify({ ...cell(mechanism, perSecond, right), scenario: name }, 60_000);
          expect(result).toEqual({ received: 50, outOfOrder: 0 });
        }
      }
      const firehose = { ...cell("chain-direct-executor", 0, right), scenario: "published-firehose-jvm" };
      const { values, samples } = await runner.measure(firehose, 60_000);
      expect(Object.keys(values).sort()).toEqual([
        "backlogMax",
        "backlogSent100",
        "backlogSent25",
        "backlogSent50",
        "backlogSent75",
        "throughput",
      ]);
      // Behind a growing queue, a delay means nothing.
      expect(samples).toEqual({});
    },
    120_000,
  );

  test.runIf(host === "node")(
    "carries out every available mechanism of the published experiments, and gives the reason for the others",
    async () => {
      const own = new RunnerClient(command());
      try {
        const { mechanisms } = await own.describe();
        for (const [name, params] of Object.entries(SMALL)) {
          const { family, expected, mechanisms: wanted } = loadScenarios().find((each) => each.name === name)!;
          const known = mechanisms.filter((each) => each.scenario === name);
          expect(known.map(({ mechanism }) => mechanism)).toEqual(
            expect.arrayContaining(
              wanted.filter(({ hosts }) => hosts?.includes("node") ?? true).map((each) => each.name),
            ),
          );
          for (const { scenario, mechanism, unavailable } of known) {
            if (unavailable !== undefined) expect(unavailable).toMatch(/make|cargo|npm|install|Linux/);
            else if (wanted.some((each) => each.name === mechanism))
              for (const each of params) {
                const cell = { family, scenario, mechanism, expected, params: each };
                if (isLeftOut(cell)) continue;
                expect((await own.verify(cell, 60_000)).verified).toBe(true);
              }
          }
        }
      } finally {
        await own.close();
      }
    },
    120_000,
  );

  test("ends when its input ends", async () => {
    const other = new RunnerClient(command());
    await other.describe();
    await other.close(60_000);
    await expect(other.describe()).rejects.toThrow("the runner ended: code=0");
  });
});

describe("a missing JVM", () => {
  test("is reported with the command that installs it", () => {
    process.env["CLEARWAY_LAB_JVM"] = here("nowhere.json");
    expect(findJvmRunner()).toBe(JVM_MISSING);
    expect(JVM_MISSING).toMatch("apt-get install");
    delete process.env["CLEARWAY_LAB_JVM"];
    expect(findJvmRunner(99)).toMatch(/no JDK 99 was found.*17/);
  });
});
