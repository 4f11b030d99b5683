// SPDX-License-Identifier: MIT OR Apache-2.0
// The promises of remote pools, from invented figures.
import { expect, test } from "vitest";
import { Collector } from "../src/promises/collector.js";
import { remote } from "../src/promises/measurements/remote.js";
import { loadPromiseScenarios } from "../src/promises/scenario.js";

const scenarios = loadPromiseScenarios().filter(({ name }) => name === "remote");

/** Measures with a host whose probe answers with `answers`, by part. Returns the cells. */
async function measured(answers: Record<string, unknown>) {
  const collector = new Collector(scenarios);
  const probe = async (name: string, params: object) => {
    expect([name, params]).toEqual(["remote", expect.objectContaining({ rounds: 3, seed: 1 })]);
    return answers[(params as { part: string }).part] as never;
  };
  await remote({
    host: { name: "node", probe },
    collector,
    amounts: { rounds: 3 },
    seed: 1,
    nativeFiles: () => ({ why: "not needed" }),
    signal: new AbortController().signal,
  });
  return collector.cells;
}

test("are ratios of the same round, calls a second, and the share of the cores that is used", async () => {
  const cells = await measured({
    requests: {
      "nats-request": { p50Us: [100, 200, 400], samplesUs: [100, 200, 400] },
      clearway: { p50Us: [120, 240, 500], samplesUs: [120, 240, 500] },
    },
    durable: [9000, 11_000, 12_000],
    computing: { cores: 2, one: [100, 100, 100], each: [180, 190, 200] },
  });
  const promises = cells.filter(({ family }) => family === "promise");
  expect(promises.map(({ scenario, metrics, params }) => [scenario, metrics["figure"], params["verdict"]])).toEqual([
    ["remote-over-bare", { unit: "ratio", value: 1.2 }, "met"],
    ["remote-durable", { unit: "events/s", value: 11_000 }, "met"],
    ["remote-linear", { unit: "ratio", value: 0.95 }, "met"],
  ]);
  expect(promises.map(({ params }) => params["detail"])).toEqual([
    "240 over 200 us",
    undefined,
    "190 over 100 calls/s, 2 cores",
  ]);
  const bench = cells.filter(({ family }) => family === "bench");
  expect(bench.map(({ mechanism, params }) => [mechanism, params["mode"]])).toEqual([
    ["nats-request", "request"],
    ["clearway", "request"],
    ["clearway", "durable"],
  ]);
});

test("say what is missing, each of them, and measure nothing else", async () => {
  const unavailable = "nats-server is not installed: apt-get install nats-server";
  const cells = await measured({ requests: { unavailable } });
  expect(cells.map(({ scenario, status, why }) => [scenario, status, why])).toEqual(
    scenarios[0]!.promises.map(({ id }) => [id, "unavailable", unavailable]),
  );
});
