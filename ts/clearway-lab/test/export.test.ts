// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { jetpackReport } from "../src/export/jetpack.js";
import { assertJetpack } from "../src/export/schema.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { offloadRecord } from "./offload-record.js";
import { record } from "./record.js";

const report = jetpackReport(offloadRecord());
const [first] = report.benchmarks;

describe("Jetpack's Benchmark JSON", () => {
  test("has only the published fields, for every family with times", () => {
    expect(() => assertJetpack(report)).not.toThrow();
    const other = jetpackReport(record());
    expect(() => assertJetpack(other)).not.toThrow();
    expect(other.benchmarks.map(({ className, name }) => [className, name.split("[")[0]])).toContainEqual([
      "clearway.lab.node.push.stream",
      "clearway-stream",
    ]);
  });

  test("has every batch in nanoseconds, with its statistics", () => {
    expect(first?.metrics["timeNs"]?.runs).toHaveLength(9);
    expect(first?.metrics["timeNs"]).toMatchObject({ minimum: 3724, maximum: 4532, median: 4000 });
    // The runs are 4000 4400 3800 4120 4532 3914 3920 4312 3724. The figure is the sample's standard deviation / the mean.
    expect(first?.metrics["timeNs"]?.coefficientOfVariation).toBeCloseTo(0.069, 3);
    expect(first?.metrics["coldTimeNs"]?.runs).toHaveLength(3);
    expect(first?.metrics["allocationCount"]).toMatchObject({ median: 101, coefficientOfVariation: 0 });
    expect(first).toMatchObject({ warmupIterations: 12, repeatIterations: 1, totalRunTimeNs: 900_000_000 });
  });

  test("has the parameters as strings, in the name's brackets and as a field", () => {
    expect(first?.name).toBe("direct[work=arithmetic,waits=none,order=ascending,actions=100]");
    expect(first?.params).toEqual({ work: "arithmetic", waits: "none", order: "ascending", actions: "100" });
    expect(first?.className).toBe("clearway.lab.node.offload.works");
  });

  test("has one benchmark for each size of a sweep", () => {
    const sweep = report.benchmarks.filter(({ className }) => className === "clearway.lab.node.offload.sizes");
    expect(sweep.filter(({ name }) => name.startsWith("direct[")).map(({ params }) => params["size"])).toEqual([
      "10ns",
      "100ns",
      "1us",
      "10us",
      "100us",
      "1ms",
      "10ms",
      "100ms",
    ]);
  });

  test("leaves fields empty that only an Android device can fill", () => {
    expect(report.benchmarks.every(({ thermalThrottleSleepSeconds }) => thermalThrottleSleepSeconds === null)).toBe(
      true,
    );
    expect(report.benchmarks.every(({ profilerOutputs }) => profilerOutputs === null)).toBe(true);
    expect(report.context).toMatchObject({
      build: { brand: "", device: "", fingerprint: "", model: "A CPU", version: { sdk: 0 } },
      cpuLocked: false,
      cpuMaxFreqHz: -1,
      artMainlineVersion: -1,
      compilationMode: "",
      payload: { producer: "clearway-lab 0.1.0", os: "Linux 6, x64", "runtime.jvm": "OpenJDK 25" },
    });
  });

  test("takes many samples from their histogram, and the number of calls per sample", () => {
    const run = offloadRecord();
    const ns = Array.from({ length: 100 }, (_, at) => 1000 * (at + 1));
    const [cell] = run.cells;
    for (const { measurement } of cell?.rounds ?? [])
      measurement.samples["batchTimes"] = { unit: "ms", n: 100, hdr: encodeHistogram(histogramOf(ns)), batch: 32 };
    const [benchmark] = jetpackReport(run).benchmarks;
    expect(benchmark?.repeatIterations).toBe(32);
    expect(benchmark?.metrics["timeNs"]?.runs).toHaveLength(300);
    expect(Math.abs((benchmark?.metrics["timeNs"]?.median ?? 0) / 50_500 - 1)).toBeLessThan(0.002);
  });

  test("leaves out controls of A/A pairs, cells without a round, and values that are not times", () => {
    const run = offloadRecord();
    const [direct, piscina] = run.cells;
    run.cells = [direct, piscina].filter((cell) => cell !== undefined);
    if (direct !== undefined) direct.control = true;
    if (piscina !== undefined) piscina.rounds = [];
    expect(jetpackReport(run).benchmarks).toEqual([]);
  });

  test("is refused with the path of a field that departs from the format", () => {
    expect(() => assertJetpack({ ...report, extra: 1 })).toThrow("additional");
    const bare = { ...report, benchmarks: [{ ...first, metrics: {} }] };
    expect(() => assertJetpack(bare)).toThrow("/benchmarks/0/metrics");
    expect(() => assertJetpack({ ...report, benchmarks: [{ ...first, thermalThrottleSleepSeconds: "0" }] })).toThrow(
      "/benchmarks/0/thermalThrottleSleepSeconds",
    );
  });
});
