// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the charts of the experiments' pages.
import { describe, expect, test } from "vitest";
import { distributionsSvg, linesSvg } from "../src/report/experiments/charts.js";
import { experimentCharts, experimentsMarkdown } from "../src/report/experiments/markdown.js";
import { histogramOf } from "../src/statistics/distribution.js";
import { EXPERIMENT, experimentRecord } from "./experiment-record.js";
import { cell, measured } from "./record.js";

/** Returns the texts of a chart, in their order. */
const texts = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text);
const us = (...times: number[]) => histogramOf(times.map((time) => time * 1000));

describe("a chart of distributions", () => {
  const rows = [
    { title: "call", clearway: false, histogram: us(1, 1, 1, 2), stepUs: 0 },
    { title: "a <queue>", clearway: true, histogram: us(10, 10, 10, 2000), stepUs: 0 },
  ];
  const svg = distributionsSvg("Delays", "closed loop", rows);

  test("has a row for each way in the given order, with its median and tail, and names the axis", () => {
    const found = texts(svg);
    expect(found.filter((text) => /call|queue|p50|loop/.test(text!))).toEqual([
      "closed loop",
      "call",
      expect.stringMatching(/^p50 1 · p99 2 µs$/),
      "a &lt;queue&gt;",
      expect.stringMatching(/^p50 10 · p99 2\u202f00\d µs$/),
    ]);
    expect(svg).toMatch('aria-label="Delays"');
  });

  test("draws nothing below the step of the clock", () => {
    const found = texts(distributionsSvg("Delays", "closed loop", [{ ...rows[0]!, stepUs: 5 }]));
    expect(found).toContain("p50 ≤ 5 · p99 ≤ 5 µs");
    expect(found.filter((text) => /^0/.test(text!))).toEqual([]);
  });

  test("has one axis for all rows, from the power of ten below the fastest to the one above the slowest", () => {
    expect(texts(svg).filter((text) => /^1\d* [µm]s$/.test(text!))).toEqual([
      "1 µs",
      "10 µs",
      "100 µs",
      "1 ms",
      "10 ms",
    ]);
  });

  test("draws a quarter of the messages a third as high as the other three quarters", () => {
    const [first = ""] = [...svg.matchAll(/<path d="([^"]*)" fill="#6e7781"/g)].map(([, path]) => path!);
    const heights = [...first.matchAll(/v-(\d+)H/g)].map(([, height]) => Number(height));
    expect(heights).toEqual([24, 8]);
  });
});

describe("a chart of lines", () => {
  const points = [4096, 8192, 16384].map((bytes) => ({ bytes, us: bytes / 4096 }));
  const svg = linesSvg("Fills", "size", [{ title: "memset", points }], [{ title: "L2", bytes: 8192 }]);

  test("shows work that takes as long for each byte as a level line", () => {
    const [, path = ""] = /<path d="([^"]*)" stroke="#1f2328" stroke-width="2"/.exec(svg)!;
    expect(
      new Set(
        path
          .split(/[ML]/)
          .slice(1)
          .map((point) => point.split(" ")[1]),
      ).size,
    ).toBe(1);
    expect(texts(svg)).toEqual(["100 ns", "1\u202f000 ns", "4 KB", "8 KB", "16 KB", "L2", "memset", "size"]);
  });
});

describe("a chart of nine lines", () => {
  test("has nine colours", () => {
    const rows = Array.from({ length: 9 }, (_, at) => ({ title: `way ${at}`, points: [{ bytes: 4096, us: 1 + at }] }));
    const strokes = [...linesSvg("Fills", "size", rows, []).matchAll(/stroke="(#\w+)" stroke-width="2"/g)];
    expect(new Set(strokes.map(([, stroke]) => stroke)).size).toBe(9);
  });
});

describe("the page of an experiment", () => {
  const [table] = EXPERIMENT.tables;
  const chart = { file: "1-a.svg", axis: "open loop", sample: "latency" };
  const experiments = [{ ...EXPERIMENT, tables: [{ ...table!, text: "Why it bends.", chart }] }];

  test("shows a chart between the text and the table, whose rows are in the table's order", () => {
    const cells = [
      cell("students", "worker-clone", { rows: 1_000_000 }, [measured({ longestStall: 5 }, [5])]),
      cell("students", "direct", { rows: 1_000_000 }, [measured({ longestStall: 2 }, [20])]),
    ];
    const record = experimentRecord({ cells, experiments });
    expect(experimentsMarkdown(record)).toMatch(
      /### A million students, Node\n\nWhy it bends\.\n\n!\[A million students, Node\]\(1-a\.svg\)\n\n\| mechanism/,
    );
    const [{ file, svg }] = experimentCharts(record) as [{ file: string; svg: string }];
    expect(file).toBe("1-a.svg");
    expect(svg.indexOf("created on the main thread")).toBeLessThan(svg.indexOf("worker, structured clone"));
  });

  test("has no chart without figures", () => {
    expect(experimentCharts(experimentRecord({ experiments }))).toEqual([]);
  });
});
