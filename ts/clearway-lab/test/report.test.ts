// SPDX-License-Identifier: MIT OR Apache-2.0
import { JSDOM } from "jsdom";
import { describe, expect, test } from "vitest";
import { summary, tableLines, WIDTH_MAX, wrap } from "../src/cli/terminal.js";
import { timelineChart } from "../src/report/chart/timeline.js";
import { bytes, logTicks, shown, shownTime, spaced, times } from "../src/report/number.js";
import { reportHtml } from "../src/report/report.js";
import { tablesOf } from "../src/report/tables.js";
import { verdictOf } from "../src/report/verdict.js";
import { resultsOf } from "../src/run/results.js";
import { cell, measured, record } from "./record.js";

const HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";

function page(run = record()): Document {
  return new JSDOM(reportHtml(resultsOf(run), run)).window.document;
}

describe("the report", () => {
  test("has the verdict first, then the doubts, then each family", () => {
    const found = page();
    expect(found.querySelector("h1")?.textContent).toBe(
      "1\u202f000\u202f000 records blocked Node's main thread for 500 ms when cloned from a worker, and for 2 ms when moved as Clearway records: 1/250 as long.",
    );
    expect(found.querySelector(".doubt li .next")).not.toBeNull();
    expect([...found.querySelectorAll("h2[id]")].map(({ id }) => id)).toEqual(["isolate", "push"]);
  });

  test("is one file that fetches nothing by markup, style or script", () => {
    const found = page();
    expect(found.querySelectorAll("[src], iframe, object, embed, base")).toHaveLength(0);
    const references = [...found.querySelectorAll("[href]")].map((element) => element.getAttribute("href")!);
    expect(references.every((reference) => reference.startsWith("#") || reference.startsWith("data:"))).toBe(true);
    const styles = [...found.querySelectorAll("style")].map(({ textContent }) => textContent);
    expect(styles.filter((text) => /@import|url\((?!#)/.test(text ?? ""))).toEqual([]);
    // Comments are removed, because they contain the address and the licence of the chart library.
    const scripts = [...found.querySelectorAll("script")].map(({ textContent }) =>
      textContent!.replace(/\/\*[\s\S]*?\*\//g, ""),
    );
    expect(scripts.some((text) => /\bfetch\(|XMLHttpRequest|import\(|sendBeacon|https?:/.test(text))).toBe(false);
  });

  test("shows its charts as inline SVG for wide and narrow pages, with accessible names", () => {
    const charts = [...page().querySelectorAll(".chart")];
    expect(charts.length).toBeGreaterThanOrEqual(2);
    for (const chart of charts) {
      const pictures = [...chart.querySelectorAll(":scope > svg")];
      expect(pictures.map((svg) => svg.getAttribute("class"))).toEqual(["plot wide", "plot narrow"]);
      expect(pictures.every((svg) => (svg.getAttribute("aria-label") ?? "").length > 10)).toBe(true);
    }
  });

  test("hides the zoom until its script runs", () => {
    const zoom = page().querySelector(".zoom");
    expect(zoom?.hasAttribute("hidden")).toBe(true);
    expect(JSON.parse(zoom!.querySelector("script")!.textContent!)).toHaveLength(3);
  });

  test("escapes the names of scenarios, mechanisms and errors", () => {
    const run = record();
    const scripts = page(run).querySelectorAll("script").length;
    for (const each of run.cells) {
      each.title = HOSTILE;
      each.mechanism = HOSTILE;
      each.settings = HOSTILE;
    }
    run.cells.push(cell("students", "direct", { rows: 2 }, [], { failure: HOSTILE }));
    run.scenarios = run.scenarios.map((scenario) => ({
      ...scenario,
      question: HOSTILE,
      shows: HOSTILE,
      topology: HOSTILE,
      reference: HOSTILE,
    }));
    run.machine.cpu = HOSTILE;
    const found = page(run);
    expect(found.querySelectorAll("script")).toHaveLength(scripts);
    expect(found.querySelectorAll("img, [onerror]")).toHaveLength(0);
    expect(found.querySelector("h3")?.textContent).toBe(HOSTILE);
  });

  test("greys a quantile that its sample is too small for", () => {
    const grey = [...page().querySelectorAll("td.doubtful")];
    expect(grey).toHaveLength(0);
    const run = record();
    for (const each of run.cells) each.rounds = each.rounds.slice(0, 1);
    expect([...page(run).querySelectorAll("td.doubtful")].length).toBeGreaterThan(0);
  });

  test("names the cells that were not measured, with the reason", () => {
    expect(page().body.textContent).toContain("clearway-ring on Node: not built yet: see clearway-stream");
  });

  test("says when nothing was measured", () => {
    const empty = record({
      cells: record().cells.map((each) => ({ ...each, rounds: [], unavailable: "interrupted" })),
    });
    expect(page(empty).querySelector("h1")?.textContent).toBe("Nothing was measured.");
  });
});

describe("the chart of the stalls", () => {
  test("names the longest stall of each way, and says that a way without one had none of a millisecond", () => {
    const strip = (mechanism: string, stalls: { at: number; ms: number }[]) => ({
      ...{ mechanism, title: mechanism, color: "red", totalMs: 100, stalls },
      longestMs: Math.max(0, ...stalls.map(({ ms }) => ms)),
    });
    const { text } = timelineChart("stalls", [strip("held", [{ at: 1, ms: 40 }]), strip("free", [])]);
    for (const shown of ["longest 40 ms", "under 1 ms", "40 ms", "&lt;1 ms"]) expect(text).toContain(`>${shown}<`);
    expect(text).not.toContain(" 0 ms");
  });
});

describe("the verdict", () => {
  test("gives no ratio when the noise is too high for it", () => {
    const run = record();
    const sentences = verdictOf(resultsOf(run), run);
    expect(sentences.find((sentence) => sentence.includes("Clearway's stream"))).toMatch(/no difference seen/);
    for (const each of run.cells.filter(({ control }) => control)) {
      each.rounds = each.rounds.map((round) => ({
        ...round,
        measurement: measured({ longestStall: 1, totalRuntime: 1 }),
      }));
    }
    expect(verdictOf(resultsOf(run), run)[0]).toMatch("the run is too noisy for a ratio");
  });
});

describe("the terminal", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character.
  const plain = (text: string) => text.replace(/\u001b\[\d+m/g, "");

  test("is never wider than 100 columns", () => {
    const run = record();
    const lines = plain(summary(resultsOf(run), run)).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(WIDTH_MAX);
    expect(lines.length).toBeGreaterThan(20);
  });

  test("orders a stream by its tail latency and puts doubtful figures in brackets", () => {
    const run = record();
    for (const each of run.cells) each.rounds = each.rounds.slice(0, 1);
    const stream = tablesOf(resultsOf(run), run).find(({ scenario }) => scenario === "stream")!;
    expect(stream.rows.map(({ mechanism }) => mechanism)).toEqual(["worker-postmessage", "clearway-stream"]);
    expect(plain(tableLines(stream).join("\n"))).toMatch(/\(\d+(\.\d+)?\)/);
  });

  test("wraps between words", () => {
    expect(wrap("- one two three", 9)).toEqual(["- one two", "  three"]);
    expect(wrap("short", 10)).toEqual(["short"]);
  });

  test("never breaks a line within a number or before its unit", () => {
    const texts = ["1 234 567", "12 ms", "3.1 us", "5 %", "12 MB", "2 frames", "8.5 times", "7 ms/s"];
    for (const text of texts)
      expect(wrap(`- about ${text} more`, text.length + 6)).toEqual(["- about", `  ${text}`, "  more"]);
  });
});

test("numbers are written in a readable form", () => {
  expect([0, 0.0123, 1.234, 12.34, 123.4, 12345, Number.NaN].map(shown)).toEqual([
    "0",
    "0.012",
    "1.23",
    "12.3",
    "123",
    "12\u202f345",
    "–",
  ]);
  expect([8, 4096, 1 << 20].map(bytes)).toEqual(["8 B", "4 KB", "1 MB"]);
  expect([shownTime(0.001, 5), shownTime(6, 5)]).toEqual(["<5", "6"]);
  expect(logTicks(0.25, 400)).toEqual([1, 10, 100]);
  expect(logTicks(12_000, 1_500_000)).toEqual([30_000, 100_000, 300_000, 1_000_000]);
  expect(logTicks(0.3, 0.9)).toEqual([0.4, 0.6, 0.8]);
  expect(logTicks(34.2, 59.4)).toEqual([40, 50]);
  expect(logTicks(7, 7)).toEqual([7]);
  const sizes = [4096, 65_536, 524_288, 1_048_576, 8_388_608];
  expect([0.05, 0.2, 1].map((share) => spaced(sizes, share))).toEqual([
    sizes,
    [4096, 65_536, 524_288, 8_388_608],
    [4096, 8_388_608],
  ]);
  expect(spaced([10, 100, 1000], 0.5, 1, 10_000)).toEqual([10, 1000]);
  expect([spaced([5], 0.5), spaced([], 0.5)]).toEqual([[5], []]);
  expect([times(0.004), times(3.4)]).toEqual(["1/250", "3.4 times"]);
});
