// SPDX-License-Identifier: MIT OR Apache-2.0
// What a reader of a trend sees: the page, the terminal and the JSON.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { JSDOM } from "jsdom";
import { afterAll, describe, expect, test, vi } from "vitest";
import { addTrend } from "../../src/cli/trend.js";
import { trendLines } from "../../src/cli/trend-text.js";
import { keep } from "../../src/records/keep.js";
import { trendOf } from "../../src/records/trend.js";
import type { Trend } from "../../src/records/trend-data.js";
import { trendHtml } from "../../src/report/trend/page.js";
import { headline } from "../../src/report/trend/words.js";
import type { RunRecord } from "../../src/run/record.js";
import { askedRecord, Scratch } from "./kept-record.js";

const scratch = new Scratch();
afterAll(() => rmSync(scratch.path, { recursive: true, force: true }));

const HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
const worse = [0.02, 0.021, 0.022, 0.023, 0.024];
const second = (more: Partial<RunRecord> = {}) =>
  askedRecord({ ratios: worse, day: "2026-01-09", commit: "feedfeedfeed", more: { seed: 8, ...more } });

function trendFrom(...records: RunRecord[]): Trend {
  return trendOf(records.map((each, at) => ({ folder: `lab/records/r${at}`, run: { file: "", record: each } })));
}

const documentOf = (trend: Trend) => new JSDOM(trendHtml(trend)).window.document;

describe("the page of a trend", () => {
  const page = documentOf(trendFrom(askedRecord(), second()));

  test("begins with what was found, and lists the changes with what differs", () => {
    expect(page.querySelector("h1")?.textContent).toBe("2 kept runs on 1 machine: 1 of 2 comparisons changed.");
    const [change, ...others] = [...page.querySelectorAll(".changes li")].map(({ textContent }) => textContent);
    expect(change).toBe(
      "Does the main thread stay free while a million records arrive? clearway-records / worker-clone, Node, 1\u202f000\u202f000 rows: worse on 2026-01-09: 1/45.5 (1/50 to 1/41.7), before 1/83.3 (1/100 to 1/71.4) on 2026-01-02. Differs: commit: 0123456789ab -> feedfeedfeed.",
    );
    expect(others).toEqual([]);
  });

  test("has a picture of each comparison with a name, a dot for each run and a mark for the change", () => {
    const pictures = [...page.querySelectorAll("figure svg")];
    expect(pictures.map((svg) => svg.querySelectorAll("circle").length)).toEqual([2, 2]);
    expect(pictures.map((svg) => svg.querySelectorAll("line.change.worse").length)).toEqual([1, 0]);
    expect(pictures[0]!.querySelector("text.change")?.textContent).toBe("▲ worse, 1.83 times");
    expect(pictures[1]!.getAttribute("aria-label")).toBe(
      "clearway-columns / worker-clone, Node, 1\u202f000\u202f000 rows: 2 runs, from 1/100 (1/100 to 1/100) to 1/100 (1/100 to 1/100). No change with evidence.",
    );
  });

  test("draws every mark inside its picture", () => {
    for (const svg of page.querySelectorAll("figure svg")) {
      const inside = (mark: Element, names: string[], end: number) =>
        names.flatMap((name) => mark.getAttribute(name) ?? []).every((at) => Number(at) >= 0 && Number(at) <= end);
      const outside = [...svg.querySelectorAll("line, circle, text")].filter(
        (mark) => !inside(mark, ["x", "x1", "x2", "cx"], 320) || !inside(mark, ["y", "y1", "y2", "cy"], 140),
      );
      expect(outside).toEqual([]);
    }
  });

  test("has the figures of each run as a table, and the runs with their versions", () => {
    const tables = [...page.querySelectorAll("table")].map((table) =>
      [...table.querySelectorAll("tbody tr")].map((row) => row.textContent),
    );
    expect(tables[0]![1]).toBe("2026-01-09 03:041/45.51/50 to 1/41.7decided51.05 timesfeedfeedfeedworse, 1.83 times");
    expect(tables.at(-1)![0]).toContain("r0");
    expect(tables.at(-1)![0]).not.toContain("lab/records");
  });

  test("has no script and fetches nothing", () => {
    expect(page.querySelectorAll("script, [src], iframe, object, embed, base, link:not([href='data:,'])")).toHaveLength(
      0,
    );
    expect(
      [...page.querySelectorAll("style")].filter(({ textContent }) => /@import|url\(/.test(textContent ?? "")),
    ).toEqual([]);
  });

  test("escapes all texts of a record", () => {
    const of = [askedRecord(), second()];
    for (const each of of) {
      each.questions![0]!.question = HOSTILE;
      each.questions![0]!.comparisons[0]!.label = HOSTILE;
      each.machine.cpu = HOSTILE;
      each.build.commit = `${HOSTILE}${each.seed}`;
      each.build.peers = { [HOSTILE]: HOSTILE };
    }
    const hostile = trendFrom(...of);
    hostile.problems.push({ folder: HOSTILE, problem: HOSTILE });
    const found = documentOf(hostile);
    expect(found.querySelectorAll("script, img, [onerror]")).toHaveLength(0);
    expect(found.querySelector("h3 + .multiples figcaption")?.textContent).toBe(HOSTILE);
  });

  test("says what to do without a run, and with a single one", () => {
    const [none, one] = [trendFrom(), trendFrom(askedRecord())].map(documentOf);
    expect(none!.querySelector("h1")?.textContent).toBe("No run is kept yet.");
    expect(none!.querySelector(".verdicts")?.textContent).toContain("clearway keep out");
    expect(one!.querySelector("h1")?.textContent).toBe("1 kept run on 1 machine: no comparison has a second run yet.");
    expect(one!.querySelector(".verdicts")?.textContent).toContain("A trend needs a second run of a machine");
    expect(one!.querySelectorAll("figure")).toHaveLength(2);
  });

  test("names the comparisons of one question by what tells them apart", () => {
    const of = askedRecord();
    of.questions = [];
    of.cells.push(...of.cells.map((cell) => ({ ...cell, params: { ...cell.params, rows: 5 } })));
    of.cells.push(...of.cells.slice(0, 4).map((cell) => ({ ...cell, params: { ...cell.params, other: "x" } })));
    const captions = [...documentOf(trendFrom(of)).querySelectorAll("figcaption")].map(
      ({ textContent }) => textContent,
    );
    expect(new Set(captions).size).toBe(captions.length);
    expect(captions).toContain("clearway-records / worker-clone, Node, 5 rows");
    expect(captions).toContain("clearway-records / worker-clone, Node, rows=1000000, other=x");
  });
});

describe("the text of a trend", () => {
  test("has the changes and the newest ratio of each comparison", () => {
    expect(trendLines(trendFrom(askedRecord(), second()), undefined)).toEqual([
      "2 kept runs on 1 machine: 1 of 2 comparisons changed.",
      "",
      "A CPU, 8 cores, 16 GB, Linux x64",
      "2 runs, from 2026-01-02 (Clearway 0.1.0, commit 0123456789ab) to 2026-01-09 (Clearway 0.1.0, commit feedfeedfeed).",
      "",
      "What changed",
      "- Does the main thread stay free while a million records arrive? clearway-records / worker-clone, Node, 1 000 000 rows: worse on 2026-01-09: 1/45.5 (1/50 to 1/41.7), before 1/83.3 (1/100 to 1/71.4) on 2026-01-02. Differs: commit: 0123456789ab -> feedfeedfeed.",
      "",
      "The newest ratios",
      "Does the main thread stay free while a million records arrive?",
      "  1/45.5       1/50 to 1/41.7          2 runs   clearway-records / worker-clone, Node, 1 000 000 rows",
      expect.any(String),
      "  1/100        1/100 to 1/100          2 runs   clearway-columns / worker-clone, Node, 1 000 000 rows",
    ]);
  });

  test.each([40, 50, 80])("fits %i columns", (width) => {
    const trend = trendFrom(askedRecord(), second());
    trend.problems.push({ folder: "lab/records/x", problem: "a long reason ".repeat(10) });
    expect(Math.max(...trendLines(trend, width).map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test("says so if nothing changed, or if the same build changed", () => {
    const same = trendFrom(askedRecord(), askedRecord({ day: "2026-01-09", more: { seed: 8 } }));
    expect(headline(same)).toBe("2 kept runs on 1 machine: none of 2 comparisons changed.");
    expect(trendLines(same, undefined)).toContain("  No comparison changed with evidence.");
    const odd = trendFrom(askedRecord(), askedRecord({ ratios: worse, day: "2026-01-09", more: { seed: 8 } }));
    expect(trendLines(odd, undefined).join("\n")).toContain("Suspect the machine, and measure again");
  });
});

describe("clearway trend", () => {
  function command(...args: string[]): { out: string; status: unknown; error: string | undefined } {
    const out: string[] = [];
    const before = process.exitCode;
    vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0);
    vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    const program = new Command().exitOverride();
    addTrend(program);
    let error: string | undefined;
    try {
      program.parse(["trend", ...args], { from: "user" });
    } catch (thrown) {
      error = `${(thrown as Error).constructor.name}: ${(thrown as Error).message}`;
    }
    const status = process.exitCode;
    process.exitCode = before;
    vi.restoreAllMocks();
    return { out: out.join(""), status, error };
  }
  const records = scratch.folder("records");
  keep(scratch.run(askedRecord()), records);
  keep(scratch.run(second()), records);

  test("prints the text and writes the page", () => {
    const page = scratch.folder("trend.html");
    const { out, status } = command("--records", records, "--out", page);
    expect(status).toBe(0);
    expect(out).toMatch(/^2 kept runs on 1 machine: 1 of 2 comparisons changed\.\n[\s\S]*trend\.html written\n$/);
    expect(readFileSync(page, "utf8")).toContain("<title>Clearway lab trend</title>");
    expect(command("--records", records, "--out", page).error).toBeUndefined();
  });

  test("prints JSON with a version, and nothing else on the standard output", () => {
    const { out, status } = command("--records", records, "--json", "--out", scratch.folder("second.html"));
    const { version, machines, problems } = JSON.parse(out) as Trend & { version: number };
    expect([version, status, problems]).toEqual([1, 0, []]);
    expect(machines[0]!.series[0]!.changes[0]).toMatchObject({ verdict: "worse", run: 1, against: 0 });
  });

  test("ends with status 1 if no run is kept, and the page says what to do", () => {
    const empty = scratch.folder("empty");
    mkdirSync(empty);
    const page = scratch.folder("empty.html");
    expect(command("--records", empty, "--out", page)).toMatchObject({ status: 1, error: undefined });
    expect(readFileSync(page, "utf8")).toContain("No run is kept yet.");
  });

  test("refuses a folder that does not exist and a file that it did not write", () => {
    expect(command("--records", scratch.folder("nowhere")).error).toMatch(
      /^UsageError: .*nowhere does not exist: keep a run with clearway keep DIR/,
    );
    const mine = scratch.folder("mine.html");
    writeFileSync(mine, "<title>My page</title>");
    expect(command("--records", records, "--out", mine).error).toMatch(
      /^UsageError: .*was not written by this command, and would be overwritten/,
    );
    expect(readFileSync(mine, "utf8")).toBe("<title>My page</title>");
    expect(command("--records", records, "--out", records).error).toMatch(/is a folder; name a file/);
    const deep = scratch.folder("no/such/page.html");
    expect(command("--records", records, "--out", deep).error).toMatch(/create it with mkdir -p/);
    expect(existsSync(deep)).toBe(false);
    expect(command("--records", mine).error).toMatch(/is a file; name the folder of records/);
  });
});
