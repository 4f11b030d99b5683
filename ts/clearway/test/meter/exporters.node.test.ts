// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: the readers are processes of their own.
// The metrics, read by others: OpenTelemetry's SDK, and Prometheus's client library for Python.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DataPointType, type HistogramMetricData, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { describe, expect, test } from "vitest";
import { recordStalls, stallMetrics } from "../../src/meter-metrics.js";
import { stallOf } from "./stalls.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
// Installed by `scripts/setup.sh python`, which `make test` runs first.
const python = here("../../../../.cache/python/bin/python3");

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const parsers = { openmetrics: "prometheus_client.openmetrics.parser", prometheus: "prometheus_client.parser" };
/** Reads metrics from stdin with the parser of that module, and prints its families as JSON. */
const readMetrics = `
import importlib, json, sys
parse = importlib.import_module(sys.argv[1]).text_string_to_metric_families
json.dump({
    family.name: {
        "type": family.type,
        "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
    }
    for family in parse(sys.stdin.buffer.read().decode("utf-8"))
}, sys.stdout)`;

/** Returns the families of a text as the client library reads them. Fails where the text departs from the format. */
function parsed(text: string, format: "openmetrics" | "prometheus"): unknown {
  if (!existsSync(python)) throw new Error("there is no Python with prometheus-client: run scripts/setup.sh python");
  const args = ["-c", readMetrics, parsers[format]];
  const { stdout, stderr, status } = spawnSync(python, args, { input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

describe("recordStalls with OpenTelemetry's SDK", () => {
  test("gives a histogram with the meter's own buckets, and counters", async () => {
    const reader = new Reader();
    const provider = new MeterProvider({ readers: [reader] });
    const errors: unknown[] = [];
    const scope = recordStalls(provider.getMeter("clearway"), {
      hz: 60,
      attributes: { "thread.name": "main" },
      onError: (error) => errors.push(error),
    });
    scope.onStall(stallOf({ lengthMs: 100, marks: [{ label: "parse", overlapMs: 40 }] }));
    scope.onStall(stallOf({ lengthMs: 300 }));
    const { resourceMetrics } = await reader.collect();
    const metrics = resourceMetrics.scopeMetrics.flatMap((each) => each.metrics);
    const of = (name: string) => metrics.find((each) => each.descriptor.name === name)!;
    const stalls = of("clearway.stall.duration") as HistogramMetricData;
    expect(stalls.dataPointType).toBe(DataPointType.HISTOGRAM);
    expect(stalls.descriptor.unit).toBe("s");
    const [point] = stalls.dataPoints;
    expect(point!.attributes).toEqual({ "thread.name": "main", "clearway.stall.cause": "app" });
    expect(point!.value).toMatchObject({
      count: 2,
      sum: 0.4,
      buckets: {
        boundaries: [0.00833, 0.01667, 0.03333, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
        counts: [0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0],
      },
    });
    expect(of("clearway.frame.dropped").dataPoints[0]!.value).toBeCloseTo(5 + 17, 9);
    expect(of("clearway.mark.stall.time").dataPoints[0]).toMatchObject({
      value: 0.04,
      attributes: { "thread.name": "main", "clearway.mark.label": "parse" },
    });
    expect(errors).toEqual([]);
    await provider.shutdown();
    scope.onStall(stallOf());
    expect(scope.failures).toBe(0);
  });
});

describe.each([
  ["openmetrics", "application/openmetrics-text"],
  ["prometheus", "text/plain"],
] as const)("the metrics as %s", (format, accept) => {
  const odd = 'say "hi" \\ twice\nthen 日本 🙂 }';

  test("are read by Prometheus's client library, with every label as it was", () => {
    const metrics = stallMetrics({ hz: 60 });
    metrics.scope({ thread: odd }).onStall(stallOf({ lengthMs: 7, marks: [{ label: odd, overlapMs: 5 }] }));
    metrics.scope({ thread: "worker" }).onStall(stallOf({ cause: "gc", gcMs: 90 }));
    metrics.scope();
    const { body } = metrics.exposition(accept);
    expect(parsed(body, format)).toMatchObject({
      clearway_stall_duration_seconds: {
        type: "histogram",
        samples: expect.arrayContaining([
          ["clearway_stall_duration_seconds_bucket", { thread: odd, cause: "app", le: "0.00833" }, 1],
          ["clearway_stall_duration_seconds_count", { thread: "worker", cause: "gc" }, 1],
          ["clearway_stall_duration_seconds_sum", { thread: "worker", cause: "gc" }, 0.1],
        ]),
      },
      clearway_stall_gc_time_seconds: {
        type: "counter",
        samples: expect.arrayContaining([
          ["clearway_stall_gc_time_seconds_total", { thread: "worker" }, 0.09],
          ["clearway_stall_gc_time_seconds_total", {}, 0],
        ]),
      },
      clearway_mark_stall_time_seconds: {
        samples: [["clearway_mark_stall_time_seconds_total", { thread: odd, mark: odd }, 0.005]],
      },
      clearway_frame_dropped: { type: "counter" },
    });
  });

  test("are read without scopes, and with a scope that had no stall", () => {
    const metrics = stallMetrics({ hz: 60 });
    expect(Object.keys(parsed(metrics.exposition(accept).body, format) as object)).toHaveLength(6);
    metrics.scope({ a: "" });
    expect(Object.keys(parsed(metrics.exposition(accept).body, format) as object)).toHaveLength(6);
  });
});
