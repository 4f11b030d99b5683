// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import vectors from "../../../../spec/vectors/metrics.json" with { type: "json" };
import { dispose } from "../../src/globals.js";
import type { Stall } from "../../src/meter/report.js";
import { type StallMetricsOptions, stallMetrics } from "../../src/meter-metrics.js";
import { stallOf } from "./stalls.js";

const openMetrics = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
const samples = (body: string): string[] => body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("stallMetrics", () => {
  test("counts each stall in its bucket, by cause, with its parts in seconds", () => {
    const metrics = stallMetrics({ hz: 60 });
    const scope = metrics.scope({ thread: "main" });
    scope.onStall(stallOf({ lengthMs: 100, gcMs: 25, marks: [{ label: "parse", overlapMs: 50 }] }));
    scope.onStall(stallOf({ lengthMs: 12_000, cause: "machine", machineMs: 6000 }));
    const found = samples(metrics.exposition().body);
    const app = 'clearway_stall_duration_seconds_bucket{thread="main",cause="app",le=';
    const machine = 'clearway_stall_duration_seconds_bucket{thread="main",cause="machine",le=';
    // The bound of a bucket belongs to it.
    expect(found).toContain(`${app}"0.05"} 0`);
    expect(found).toContain(`${app}"0.1"} 1`);
    expect(found).toContain(`${app}"1.0"} 1`);
    expect(found).toContain(`${machine}"10.0"} 0`);
    expect(found).toContain(`${machine}"+Inf"} 1`);
    expect(found).toContain('clearway_stall_duration_seconds_count{thread="main",cause="machine"} 1');
    expect(found).toContain('clearway_stall_duration_seconds_sum{thread="main",cause="machine"} 12');
    expect(found).toContain('clearway_stall_gc_time_seconds_total{thread="main"} 0.025');
    expect(found).toContain('clearway_stall_machine_time_seconds_total{thread="main"} 6');
    expect(found).toContain('clearway_mark_stall_time_seconds_total{thread="main",mark="parse"} 0.05');
    const total = (name: string) =>
      Number(
        found
          .find((line) => line.startsWith(name))
          ?.split(" ")
          .at(-1),
      );
    // 100 ms cover 6 frames at 60 Hz, and 12,000 ms cover 720. The last frame of each still appears.
    expect(total("clearway_frame_dropped_total")).toBeCloseTo(5 + 719, 9);
    expect(total("clearway_hitch_time_seconds_total")).toBeCloseTo(12.1 - 2 / 60, 9);
  });

  test("exposition(null) gives the older format, as without an Accept header", () => {
    const metrics = stallMetrics();
    const { headers } = new Request("http://localhost/metrics");
    expect(metrics.exposition(headers.get("accept"))).toEqual(metrics.exposition());
    expect(metrics.exposition(null).contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  test("has every family once, however many scopes there are", () => {
    const metrics = stallMetrics({ hz: 60 });
    for (let at = 0; at < 1000; at++) metrics.scope({ worker: String(at) }).onStall(stallOf());
    const { body } = metrics.exposition();
    const types = body.split("\n").filter((line) => line.startsWith("# TYPE"));
    expect(types).toHaveLength(6);
    expect(new Set(types).size).toBe(6);
    expect(samples(body).filter((line) => line.startsWith("clearway_stall_duration_seconds_count"))).toHaveLength(1000);
    expect(() => metrics.scope({ worker: "1000" })).toThrow(
      "scopes must be closed when their thread ends: scopesMax=1000",
    );
  });

  test("has the counters of a scope without stalls as 0", () => {
    const metrics = stallMetrics({ hz: 60 });
    metrics.scope();
    expect(samples(metrics.exposition().body)).toEqual([
      "clearway_stall_gc_time_seconds_total 0",
      "clearway_stall_machine_time_seconds_total 0",
      "clearway_hitch_time_seconds_total 0",
      "clearway_frame_dropped_total 0",
    ]);
  });

  test("refuses the labels of an open scope, in any order, and takes them after its end", () => {
    const metrics = stallMetrics({ hz: 60 });
    const scope = metrics.scope({ a: "1", b: "2" });
    expect(() => metrics.scope({ b: "2", a: "1" })).toThrow(
      'labels must differ from those of every open scope; close it first: labels={a="1",b="2"}',
    );
    scope.close();
    const again = metrics.scope({ b: "2", a: "1" });
    scope.close();
    scope.onStall(stallOf());
    expect(samples(metrics.exposition().body)).toContain('clearway_frame_dropped_total{a="1",b="2"} 0');
    again[dispose]();
    expect(samples(metrics.exposition().body)).toEqual([]);
  });

  test("takes an empty label for none, as Prometheus does", () => {
    const metrics = stallMetrics({ hz: 60 });
    metrics.scope({ a: "" });
    expect(() => metrics.scope()).toThrow("labels must differ");
    expect(samples(metrics.exposition().body)).toContain("clearway_frame_dropped_total 0");
  });

  test("changes nothing in a text that it has returned", () => {
    const metrics = stallMetrics({ hz: 60 });
    const scope = metrics.scope();
    const { body } = metrics.exposition();
    const copy = `${body}`;
    scope.onStall(stallOf());
    scope.close();
    expect(body).toBe(copy);
  });

  test.each([
    ["le", "1"],
    ["cause", "1"],
    ["__name", "1"],
    ["9", "1"],
    ["", "1"],
    ["a-b", "1"],
    ["a\n", "1"],
  ])("refuses the label %j", (name, value) => {
    expect(() => stallMetrics({ hz: 60 }).scope({ [name]: value })).toThrow(
      new RangeError(
        `a label must have letters, digits and _ (not __ at the start, not cause, mark, le, quantile): label=${JSON.stringify(name)}`,
      ),
    );
  });

  test("refuses a label that is not a string, and labels that are not an object", () => {
    expect(() => stallMetrics({ hz: 60 }).scope({ a: 1 as unknown as string })).toThrow(
      new TypeError("the label a must be a string: a=number"),
    );
    expect(() => stallMetrics({ hz: 60 }).scope(null as never)).toThrow(
      new TypeError("labels must be an object: labels=null"),
    );
  });

  test("escapes what would end a label's value, and what UTF-8 or Prometheus cannot hold", () => {
    const metrics = stallMetrics({ hz: 60 });
    metrics
      .scope({ a: 'q " b \\ n \n z \0 half \ud83d whole 🙂 日本 }' })
      .onStall(stallOf({ marks: [{ label: '"\n', overlapMs: 1 }] }));
    const [line] = samples(metrics.exposition().body).filter((each) => each.startsWith("clearway_stall_gc"));
    expect(line).toBe(
      'clearway_stall_gc_time_seconds_total{a="q \\" b \\\\ n \\n z \ufffd0000 half \ufffdd83d whole 🙂 日本 }"} 0',
    );
    expect(metrics.exposition().body).toContain('mark="\\"\\n"} 0.001');
  });

  test("has different series for different labels", () => {
    const metrics = stallMetrics({ hz: 60 });
    const labels = ["\0", "\ud800", "\udc00", "\ufffd", "\ufffd0000", "\\ufffd"];
    const marks = labels.map((label) => ({ label, overlapMs: 1 }));
    for (const a of labels) metrics.scope({ a }).onStall(stallOf({ marks }));
    const series = samples(metrics.exposition().body).filter((each) => each.includes("mark="));
    expect(new Set(series).size).toBe(labels.length ** 2);
  });

  test("counts further labels of marks as _other", () => {
    const metrics = stallMetrics({ marksMax: 2 });
    const scope = metrics.scope();
    for (const label of ["a", "b", "c", "a", "d"]) scope.onStall(stallOf({ marks: [{ label, overlapMs: 1000 }] }));
    expect(samples(metrics.exposition().body).filter((line) => line.includes("mark="))).toEqual([
      'clearway_mark_stall_time_seconds_total{mark="a"} 2',
      'clearway_mark_stall_time_seconds_total{mark="b"} 1',
      'clearway_mark_stall_time_seconds_total{mark="_other"} 2',
    ]);
  });

  test("adds nothing for a length that is no number or negative", () => {
    const metrics = stallMetrics({ hz: 60 });
    const scope = metrics.scope();
    for (const lengthMs of [Number.NaN, -5, Number.POSITIVE_INFINITY])
      scope.onStall(stallOf({ lengthMs, gcMs: lengthMs, machineMs: lengthMs }));
    expect(metrics.exposition().body).not.toMatch(/NaN|Infinity|-5/);
    expect(samples(metrics.exposition().body)).toContain('clearway_stall_duration_seconds_sum{cause="app"} 0');
  });

  test.each([
    [{ hz: 0 }, "hz must be over 0, at most 1000: hz=0"],
    [{ marksMax: -1 }, "marksMax must be a whole number of 0 or more: marksMax=-1"],
    [{ scopeMax: 5 }, "scopeMax must be a known option (the nearest is scopesMax): scopeMax=5"],
  ])("refuses the options %j", (options, message) => {
    expect(() => stallMetrics(options as StallMetricsOptions)).toThrow(message);
  });
});

describe("the format of the metrics", () => {
  test.each([
    ["application/openmetrics-text", vectors.openMetrics],
    ["text/plain", vectors.prometheus],
  ])("is that of the vectors, which the JVM's meter passes too: %s", (accept, lines) => {
    const { hz, marksMax, scopes } = vectors;
    const metrics = stallMetrics({ hz, marksMax });
    for (const { labels, stalls } of scopes) {
      const scope = metrics.scope(labels as Record<string, string>);
      for (const stall of stalls) scope.onStall(stallOf(stall as Partial<Stall>));
    }
    expect(metrics.exposition(accept).body.split("\n")).toEqual(lines);
  });

  test.each([
    [openMetrics, true],
    ["application/openmetrics-text", true],
    ["text/plain;q=0.5, application/openmetrics-text; version=1.0.0; q=0.7", true],
    ["text/plain, application/openmetrics-text;q=0.7", false],
    ["application/openmetrics-text;q=0", false],
    ["application/openmetrics-text;version=0.0.1", false],
    ["text/html,*/*;q=0.8", false],
    ["", false],
    [";;,,=", false],
  ])("follows the header %j", (accept, isOpen) => {
    const { contentType, body } = stallMetrics({ hz: 60 }).exposition(accept);
    expect(contentType).toBe(
      isOpen
        ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
        : "text/plain; version=0.0.4; charset=utf-8",
    );
    expect(body.endsWith("# EOF\n")).toBe(isOpen);
    expect(body).toContain(
      isOpen ? "# TYPE clearway_frame_dropped counter" : "# TYPE clearway_frame_dropped_total counter",
    );
    expect(body.includes("# UNIT clearway_stall_duration_seconds seconds")).toBe(isOpen);
  });

  test("is the older format without a header", () => {
    expect(stallMetrics({ hz: 60 }).exposition().contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});

test("a thread that draws no frames has no series about frames, unless a rate is given", () => {
  const metrics = stallMetrics();
  metrics.scope().onStall(stallOf());
  expect(/hitch|frame/.test(metrics.exposition().body)).toBe("document" in globalThis);
});

describe("the metrics of a pool", () => {
  const side = { movedBytes: 5, sharedBytes: 6, copiedBytes: 7 };
  const phase = { count: 3, sum: 300, buckets: [1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3] };
  const stats = {
    workers: { size: 3, ready: 2, busy: 1, restarts: 4 },
    queue: { items: 8, bytes: 9 },
    open: 10,
    tasks: {
      resize: { ok: 11, failed: 2, cancelled: 1, errors: { timeout: 1, task: 2 }, runUs: phase },
      'a"b': { ok: 0, failed: 0, cancelled: 0, errors: {} },
    },
    ledger: { toWorkers: side, fromWorkers: { ...side, movedBytes: 50 } },
  };
  const pool = { stats: () => stats };

  test("are what stats() counts, by task, outcome, code, direction and phase, in seconds and bytes", () => {
    const metrics = stallMetrics();
    metrics.pool(pool, { pool: "images" });
    const { body } = metrics.exposition();
    expect(samples(body).filter((line) => line.startsWith("clearway_pool"))).toEqual([
      'clearway_pool_workers{pool="images",state="ready"} 2',
      'clearway_pool_workers{pool="images",state="busy"} 1',
      'clearway_pool_workers{pool="images",state="all"} 3',
      'clearway_pool_worker_restarts_total{pool="images"} 4',
      'clearway_pool_queue_calls{pool="images"} 8',
      'clearway_pool_queue_size_bytes{pool="images"} 9',
      'clearway_pool_calls_open{pool="images"} 10',
      'clearway_pool_calls_total{pool="images",task="resize",outcome="ok"} 11',
      'clearway_pool_calls_total{pool="images",task="resize",outcome="failed"} 2',
      'clearway_pool_calls_total{pool="images",task="resize",outcome="cancelled"} 1',
      'clearway_pool_calls_total{pool="images",task="a\\"b",outcome="ok"} 0',
      'clearway_pool_calls_total{pool="images",task="a\\"b",outcome="failed"} 0',
      'clearway_pool_calls_total{pool="images",task="a\\"b",outcome="cancelled"} 0',
      'clearway_pool_errors_total{pool="images",task="resize",code="timeout"} 1',
      'clearway_pool_errors_total{pool="images",task="resize",code="task"} 2',
      ...["to_workers", "from_workers"].flatMap((direction) => [
        `clearway_pool_memory_bytes_total{pool="images",direction="${direction}",how="moved"} ${direction === "to_workers" ? 5 : 50}`,
        `clearway_pool_memory_bytes_total{pool="images",direction="${direction}",how="shared"} 6`,
        `clearway_pool_memory_bytes_total{pool="images",direction="${direction}",how="copied"} 7`,
      ]),
      ...[1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3].map(
        (count, at) =>
          `clearway_pool_call_duration_seconds_bucket{pool="images",task="resize",phase="run",le="${4 ** (at + 2) / 1e6}"} ${count}`,
      ),
      'clearway_pool_call_duration_seconds_bucket{pool="images",task="resize",phase="run",le="+Inf"} 3',
      'clearway_pool_call_duration_seconds_count{pool="images",task="resize",phase="run"} 3',
      'clearway_pool_call_duration_seconds_sum{pool="images",task="resize",phase="run"} 0.0003',
    ]);
    expect(body.match(/# TYPE clearway_pool\S+ \w+/g)).toHaveLength(9);
    expect(metrics.exposition(openMetrics).body).toMatch(/# UNIT clearway_pool_memory_bytes bytes\n[\s\S]*# EOF\n$/);
  });

  test("end when the pool is removed, and its labels can be used again", () => {
    const metrics = stallMetrics();
    const remove = metrics.pool(pool);
    expect(() => metrics.pool(pool)).toThrow(new RangeError("labels must differ from those of every pool: labels={}"));
    remove();
    expect(metrics.exposition().body).not.toContain("clearway_pool");
    metrics.pool(pool);
    remove();
    remove();
    expect(metrics.exposition().body).toContain("clearway_pool");
  });

  test("refuse a label of their own, and what is no pool", () => {
    const metrics = stallMetrics();
    expect(() => metrics.pool(pool, { task: "a" })).toThrow('label="task"');
    expect(() => metrics.pool({} as never)).toThrow(new TypeError("pool must be a pool: pool=object"));
    expect(() => metrics.pool(undefined as never)).toThrow(new TypeError("pool must be a pool: pool=undefined"));
  });
});
