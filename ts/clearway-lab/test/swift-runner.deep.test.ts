// SPDX-License-Identifier: MIT OR Apache-2.0
// The lab's runner for Swift, as a separate process: the protocol, and each mechanism with a small load. Without Swift, only its absence is
// tested.
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolchain } from "../../../scripts/swift.mjs";
import type { CellRequest, Description } from "../src/protocol/message.js";
import { RunnerClient } from "../src/runner/client.js";
import { findSwiftRunner, SWIFT_MISSING } from "../src/runner/runners.js";
import { decodeHistogram } from "../src/statistics/distribution.js";
import { here } from "./built-cli.js";
import { publishedScenarios } from "./published-scenarios.js";

// Time limit for a build, in milliseconds. The first one of a tree compiles everything with optimisation.
const BUILD_MS = 900_000;
const LIMIT_MS = 600_000;

const push = publishedScenarios().filter(({ name, family }) => name.endsWith("-swift") && family === "push");
const right = { accounted: "$count", wrong: 0, asPromised: true };

function started(): RunnerClient {
  const found = findSwiftRunner();
  if (typeof found === "string") throw new Error(found);
  return new RunnerClient({ ...found, env: { CLEARWAY_LAB_HOST: "swift", ...found.env } });
}

function cell(scenario: string, mechanism: string, params: CellRequest["params"], expected: CellRequest["expected"]) {
  const load = { loop: "closed", perSecond: 0, count: 300, payloadBytes: 8, receiver: "idle", ...params };
  return { family: "push", scenario, mechanism, params: load, expected };
}

describe.runIf(toolchain() !== undefined)("the runner for Swift", () => {
  let runner: RunnerClient;
  let described: Description;
  beforeAll(async () => {
    execFileSync(process.execPath, [here("../../../scripts/swift-lab.mjs")]);
    runner = started();
    described = await runner.describe();
  }, BUILD_MS);
  afterAll(() => runner.close());

  test("describes itself as an optimised build of the compiler's version", () => {
    const { mechanisms: _, clockStepUs, ...facts } = described;
    expect(facts).toEqual({
      protocol: 1,
      host: "swift",
      runtime: `Swift ${toolchain()?.version}, -O`,
      fresh: "process",
      crossOriginIsolated: true,
    });
    expect(clockStepUs).toBeGreaterThan(0);
  });

  test("lists exactly the cells of the scenario files", () => {
    const own = described.mechanisms.map(({ scenario, mechanism }) => `${scenario}/${mechanism}`);
    const wanted = publishedScenarios()
      .filter(({ hosts }) => hosts?.includes("swift"))
      .flatMap(({ name, mechanisms }) => mechanisms.map((each) => `${name}/${each.name}`));
    expect([...own].sort()).toEqual(wanted.sort());
  });

  test("says of Combine that it is not on Linux", () => {
    const combine = described.mechanisms.filter(({ mechanism }) => mechanism.startsWith("combine-"));
    expect(combine.map(({ scenario }) => scenario)).toContain("stream-published-swift");
    if (process.platform === "linux")
      for (const { unavailable } of combine) expect(unavailable).toMatch(/^not on Linux: .* Run the lab on macOS/);
  });

  // The paces take 17 s. `make deep` runs them.
  test.runIf(process.env["CLEARWAY_EVERY_TEST"] === "1")(
    "accounts for every event of every mechanism, back to back and at a pace, in both loops",
    async () => {
      for (const { name, mechanisms } of push)
        for (const { name: mechanism } of mechanisms) {
          if (described.mechanisms.some((each) => each.mechanism === mechanism && each.unavailable !== undefined))
            continue;
          const paces = name.startsWith("growing") ? [0] : [0, 5000];
          for (const perSecond of paces) {
            const loop = name.includes("published") || perSecond === 0 ? "closed" : "open";
            const { result } = await runner.verify(cell(name, mechanism, { perSecond, loop }, right), LIMIT_MS);
            expect(result).toMatchObject({ accounted: 300, wrong: 0, asPromised: true });
          }
        }
    },
    5 * LIMIT_MS,
  );

  test("sends raw samples of the events that arrived, and the counts of lost and reordered ones", async () => {
    const { samples, values, notes } = await runner.measure(
      cell("stream-published-swift", "delegate", { perSecond: 5000, count: 60 }, right),
      LIMIT_MS,
    );
    expect(samples["latency"]).toMatchObject({ unit: "us", n: 60 });
    expect(samples["latency"]?.raw).toHaveLength(60);
    expect(decodeHistogram(samples["latency"]?.hdr ?? "").totalCount).toBe(60);
    expect(values).toEqual({ reordered: { unit: "events", value: 0 }, lost: { unit: "events", value: 0 } });
    expect(notes).toEqual([]);
  });

  test("loses events by a buffer of the newest one, says how many, and measures those that arrived", async () => {
    const request = cell("growing-queue-swift", "async-stream-newest-1", { count: 100_000 }, right);
    const { samples, values, result } = await runner.measure(request, LIMIT_MS);
    const lost = values["lost"]?.value ?? 0;
    expect(lost).toBeGreaterThan(0);
    expect(samples["latency"]?.n).toBe(100_000 - lost);
    expect(result).toMatchObject({ lost, outOfOrder: 0, accounted: 100_000 });
  });

  test("measures a growing queue by throughput, backlog and every tenth of a million delays", async () => {
    const request = cell("growing-queue-swift", "dispatch-queue", { count: 1_000_000 }, right);
    const { samples, values, notes } = await runner.measure(request, LIMIT_MS);
    expect(samples["latency"]).toMatchObject({ n: 100_000 });
    expect(samples["latency"]).not.toHaveProperty("raw");
    expect(notes).toEqual(["the delays are those of every 10th event that arrived"]);
    expect(values["throughput"]?.value).toBeGreaterThan(0);
    expect(values["backlogMax"]?.value).toBeGreaterThan(0);
  });

  test("encodes and decodes every value by every codec that has it", async () => {
    const { family, expected, mechanisms, sets } = publishedScenarios().find(({ name }) => name === "codec-swift")!;
    for (const { params, mechanisms: own } of sets)
      for (const mechanism of own ?? mechanisms.map(({ name }) => name)) {
        const request = { family, scenario: "codec-swift", mechanism, expected, params: { ...params, batches: 3 } };
        expect((await runner.verify(request, LIMIT_MS)).result).toEqual({ equal: true });
      }
  });

  test("carries every row to a child process and back, and names a row that a mechanism does not have", async () => {
    const scenario = "channel-process-swift";
    const { family, expected, mechanisms, sets } = publishedScenarios().find(({ name }) => name === scenario)!;
    for (const { params, mechanisms: own } of sets)
      for (const mechanism of own ?? mechanisms.map(({ name }) => name)) {
        const request = { family, scenario, mechanism, expected, params: { ...params, messages: 3, warmUpMs: 1 } };
        const { samples, result } = await runner.measure(request, LIMIT_MS);
        expect([samples["roundTrip"]?.n, result]).toEqual([3, { equal: true }]);
      }
    const params = { ...sets.at(-1)!.params, messages: 3, warmUpMs: 1 };
    const without = { family, scenario, mechanism: "bytes-stdio", expected, params };
    await expect(runner.measure(without, LIMIT_MS)).rejects.toThrow("hand-written bytes have no methods");
  });

  test("fills memory by every way, and carries every row to the plugin, or says what is not built", async () => {
    for (const name of ["memset-swift", "channel-native-swift"]) {
      const { family, expected, mechanisms, sets } = publishedScenarios().find((each) => each.name === name)!;
      const small = { bytes: 4096, repetitions: 3, timeMsMax: 1000, messages: 3, warmUpMs: 1 };
      for (const { name: mechanism } of mechanisms) {
        const { unavailable } = described.mechanisms.find(
          (each) => each.scenario === name && each.mechanism === mechanism,
        )!;
        if (unavailable !== undefined) {
          expect(unavailable).toMatch(/is not built: .*node scripts\/native\.mjs/);
          continue;
        }
        for (const { params } of name === "memset-swift" ? sets.slice(-1) : sets) {
          const own = Object.fromEntries(Object.entries(small).filter(([key]) => key in params));
          const request = { family, scenario: name, mechanism, expected, params: { ...params, ...own } };
          expect((await runner.verify(request, LIMIT_MS)).result).toEqual(expected);
        }
      }
    }
  });

  test.each<[string, ReturnType<typeof cell>, RegExp]>([
    [
      "a mechanism",
      cell("stream-published-swift", "delegat", {}, right),
      /no such mechanism: mechanism=delegat \(delegate, /,
    ],
    [
      "a scenario",
      cell("stream-swfit", "delegate", {}, right),
      /no such scenario on this host: .*stream-published-swift/,
    ],
    ["a loop", cell("stream-published-swift", "delegate", { loop: "half" }, right), /loop="half" \(open, closed\)/],
    ["a receiver", cell("stream-published-swift", "delegate", { receiver: "busy" }, right), /receiver="busy" \(idle\)/],
    ["a count", cell("stream-published-swift", "delegate", { count: 1.5 }, right), /whole number from 1 on: count=1.5/],
    ["a huge count", cell("stream-published-swift", "delegate", { count: 1e12 }, right), /count=1000000000000/],
    ["a rate", cell("stream-published-swift", "delegate", { perSecond: -1 }, right), /perSecond=-1/],
    ["a size", cell("stream-published-swift", "delegate", { payloadBytes: 1e15 }, right), /payloadBytes=/],
    ["a missing mechanism", cell("stream-published-swift", "combine-queue", {}, right), /not on Linux/],
  ])("refuses %s that it does not have, and stays usable", async (_, request, message) => {
    await expect(runner.measure(request, LIMIT_MS)).rejects.toThrow(message);
    expect((await runner.verify(cell("stream-published-swift", "delegate", {}, right), LIMIT_MS)).verified).toBe(true);
  });

  test("ends when its input ends", async () => {
    const other = started();
    await other.describe();
    await other.close(60_000);
    await expect(other.describe()).rejects.toThrow("the runner ended: code=0");
  });
});

describe("a missing runner for Swift", () => {
  test("is reported with the commands that add Swift and build it", () => {
    process.env["CLEARWAY_LAB_SWIFT"] = here("nowhere.json");
    expect(findSwiftRunner()).toBe(SWIFT_MISSING);
    delete process.env["CLEARWAY_LAB_SWIFT"];
    expect(SWIFT_MISSING).toMatch(/scripts\/setup\.sh swift .* node scripts\/swift-lab\.mjs/);
  });
});
