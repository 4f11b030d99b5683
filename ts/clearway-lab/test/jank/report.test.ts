// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the order of runs, the comparison, the exit status, and the texts, with made-up runs.
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import GithubSlugger from "github-slugger";
import { describe, expect, test } from "vitest";
import { parseBudget } from "../../src/jank/figures.js";
import { groupCauses } from "../../src/jank/locate.js";
import { compareRuns, exitStatus, measureAll, type Plan } from "../../src/jank/measure.js";
import type { Run } from "../../src/jank/record.js";
import type { Target } from "../../src/jank/target.js";
import { unbroken } from "../../src/report/html.js";
import { jankHtml } from "../../src/report/jank/page.js";
import { jankText } from "../../src/report/jank/text.js";
import { nextStep } from "../../src/report/jank/words.js";
import { APP, cause, run } from "./evidence.js";

const page = (name: string): Target => ({ kind: "url", name, url: `http://a.test/${name}` });
const plan = (changes: Partial<Plan> = {}): Plan => ({
  targets: [page("after")],
  repeat: 1,
  steps: [],
  budget: [],
  signal: new AbortController().signal,
  ...changes,
});
const found = cause({
  place: { functionName: "work", url: APP, line: 3, column: 5, functionLine: 2, functionColumn: 1 },
  code: "total += heavy(row);",
  callers: [{ functionName: "main", url: APP, line: 9, column: 1 }],
  invoker: "BUTTON#go.onclick",
});

/** Measures made-up runs, given in the order in which they are measured. */
async function report(changes: Partial<Plan>, runs: Run[]) {
  const order: string[] = [];
  const given = await measureAll(
    plan(changes),
    async ({ name }) => {
      order.push(name);
      return { run: runs[order.length - 1] ?? runs.at(-1)!, runtime: "Chromium 1" };
    },
    () => {},
  );
  return { given, order, text: stripVTControlCharacters(jankText(given, 80)) };
}

describe("the runs", () => {
  test("of two targets are interleaved, in alternating order", async () => {
    const { order } = await report({ targets: [page("after"), page("before")], repeat: 3 }, [run([])]);
    expect(order).toEqual(["after", "before", "before", "after", "after", "before"]);
  });

  test("end when they are interrupted", async () => {
    const interruption = new AbortController();
    const measured: string[] = [];
    const given = await measureAll(
      plan({ repeat: 5, targets: [page("after"), page("before")], signal: interruption.signal }),
      async ({ name }) => {
        measured.push(name);
        if (measured.length === 2) interruption.abort();
        return { run: run([50], measured.length === 2 ? { outcome: "interrupted" } : {}), runtime: "" };
      },
      () => {},
    );
    expect(measured).toEqual(["after", "before"]);
    expect(exitStatus(given)).toBe(130);
    expect(given.comparison).toEqual([]);
  });

  test("are said to be beside other programs that used a quarter of the cores, with the worst of the runs", async () => {
    const beside = async (...all: number[]) =>
      (
        await report(
          { repeat: all.length },
          all.map((cores) => run([50], { others: { cores, of: 2 } })),
        )
      ).text;
    expect(await beside(0.6, 2.01, 0.1)).toContain(
      "Measured beside other programs, which used 2.0 of 2 cores right before.",
    );
    expect(await beside(0.4, 0.1)).not.toContain("other programs");
  });

  test("have medians", async () => {
    const { given, text } = await report({ repeat: 3 }, [run([100]), run([300]), run([120])]);
    expect(given.subjects[0]!.figures.longestMs).toBe(120);
    expect(text).toContain("medians of 3 runs; longest stall 100 ms to 300 ms");
  });

  test("that failed change neither the medians nor the budget of the others", async () => {
    const failed = run([900], { outcome: "failed", message: "it broke" });
    const options = { repeat: 3, budget: parseBudget("120"), device: { name: "a phone", ratio: 2 } as never };
    const { given, text } = await report(options, [failed, run([40]), run([60])]);
    expect(given.subjects[0]).toMatchObject({ figures: { longestMs: 50 }, there: { figures: { longestMs: 100 } } });
    expect(given.budget).toMatchObject([{ kept: true }]);
    expect(text).toContain("medians of 2 runs; longest stall 40.0 ms to 60.0 ms");
    expect(jankHtml(given)).toContain("median of 2 runs");
    const none = await report({ repeat: 2 }, [failed, run([700], { outcome: "timeout" })]);
    expect(none.given.subjects[0]!.figures.longestMs).toBe(800);
  });
});

describe("the comparison", () => {
  test("has the ratio of after and before, pair by pair", () => {
    const [stall] = compareRuns([run([100]), run([50])], [run([200]), run([400])]);
    expect(stall).toMatchObject({
      name: "longest stall",
      before: 300,
      after: 75,
      pairs: 2,
      ratioMin: 0.125,
      ratioMax: 0.5,
    });
    expect(stall!.ratio).toBeCloseTo(0.25, 9);
  });

  test("has no ratio if one of the figures is 0", () => {
    expect(compareRuns([run([])], [run([200])])[0]).toMatchObject({ before: 200, after: 0, ratio: null });
  });

  test("leaves out pairs of which a run did not complete", () => {
    const pairs = compareRuns([run([100]), run([1], { outcome: "crashed" })], [run([200]), run([1])]);
    expect(pairs[0]).toMatchObject({ pairs: 1, after: 100 });
    expect(compareRuns([run([1], { outcome: "timeout" })], [run([1])])).toEqual([]);
  });

  test("shows no clear difference if the pairs do not all point the same way", async () => {
    const targets = [page("after"), page("before")];
    const { text } = await report({ targets, repeat: 2 }, [run([50]), run([100]), run([100]), run([120])]);
    expect(text).toMatch(/\(0\.5 to 1\.2\):\s+no\s+clear\s+difference/);
  });

  test("is printed with its ratio, and asks for more runs", async () => {
    const { text } = await report({ targets: [page("after"), page("before")] }, [run([50]), run([200])]);
    expect(text.startsWith("after: the longest stall takes 50.0 ms instead of 200 ms")).toBe(true);
    expect(text).toContain("longest stall            200 ms -> 50.0 ms, ratio 0.25");
    expect(text).toContain("one pair of runs: --repeat 5 shows how much the ratio varies");
  });
});

describe("the headline of a comparison", () => {
  const targets = [page("after"), page("before")];
  test.each([
    [
      [100, 120, 80, 90],
      "after and before: no clear difference. The longest stalls take 95.0 ms and 100 ms: ratio 0.968 (0.833 to 1.13).",
    ],
    [
      [50, 200, 220, 60],
      "after: the longest stall takes 55.0 ms instead of 210 ms with before: ratio 0.261 (0.25 to 0.273).",
    ],
    [[0, 200, 200, 0], "after: the longest stall takes nothing instead of 200 ms with before."],
    [[0, 0, 0, 0], "after and before: no stall of their own in either."],
  ])("of stalls of %j ms", async (lengths, headline) => {
    const runs = lengths.map((length) => run(length === 0 ? [] : [length]));
    const { given } = await report({ targets, repeat: 2 }, runs);
    expect(stripVTControlCharacters(jankText(given, 200)).split("\n")[0]).toContain(headline);
    expect(jankHtml(given)).toContain(`<h1>${unbroken(headline)}`);
  });
});

describe("the exit status", () => {
  test.each([
    ["completed", "50", [50], 0],
    ["completed", "49", [50], 1],
    ["completed", "stall=50,dropped=0", [50], 1],
    ["failed", "50", [], 1],
    ["timeout", "50", [], 1],
    ["crashed", "50", [], 1],
    ["closed", "50", [], 1],
    ["interrupted", "50", [], 130],
  ] as const)("of a run that is %s, with budget %s and stalls %j, is %i", async (outcome, budget, lengths, status) => {
    const { given } = await report({ budget: parseBudget(budget) }, [run([...lengths], { outcome, message: "why" })]);
    expect(exitStatus(given)).toBe(status);
  });

  test("of a page without stalls is 0, and nothing was found", async () => {
    const { given, text } = await report({ budget: parseBudget("50,dropped=0,hitch=0") }, [run([])]);
    expect(exitStatus(given)).toBe(0);
    expect(text).toContain("after: nothing found. No stall of 4 ms or longer in 2 000 ms.");
  });
});

describe("the text", () => {
  test("names the cause with its place, code, callers and step", async () => {
    const { text } = await report({}, [run([120, 80], {}, found)]);
    expect(text).toBe(`after: 2 stalls, 200 ms of 2 000 ms; the longest took 120 ms.
  longest stall   120 ms
  stalled         200 ms of 2 000 ms
  mean lag        5.20 ms for an event at a random moment
  dropped frames  10 at 60 Hz, 22 at 120 Hz
  hitch ratio     83.3 ms/s at 60 Hz (critical), 91.7 ms/s at 120 Hz

  Causes
     200 ms in 2 stalls  script: work (js/app.js:3:5)
             code: total += heavy(row);
             called by: main (js/app.js:9:1)
             started by: BUTTON#go.onclick
             during: load
             next: Move work() to a worker, or split it if it needs the DOM:
               docs/recipes.md#run-a-function-in-a-worker.
`);
  });

  test("names a stall of the machine that costs frames in its headline", async () => {
    const machine = cause({ kind: "machine", because: "the thread was ready, and not run" });
    const own = run([5]);
    const { stalls } = run([296], {}, machine);
    const both = run([5], {
      stalls: [...own.stalls, ...stalls],
      figures: { ...own.figures, stalls: 2, machineMs: 296 },
    });
    const { given, text } = await report({}, [both]);
    expect(text.replace(/\s+/g, " ")).toContain(
      "after: nothing of its own that costs a frame; the machine caused a stall of 296 ms.",
    );
    expect(jankHtml(given)).toContain("after: longest 296\u00a0ms");
  });

  test("gives a next step once", async () => {
    const quiet = cause({ kind: "machine", because: "the thread was ready, and not run" });
    const other = cause({ ...quiet, place: { functionName: "work", url: APP } });
    const { stalls } = run([50], {}, quiet);
    const { text } = await report({}, [run([60], { stalls: [...stalls, ...run([60], {}, other).stalls] })]);
    expect(text.match(/next: .*/g)).toEqual(["next: Run again on a quiet machine."]);
  });

  test("breaks no line within a number or before its unit", async () => {
    const { given } = await report({}, [run([1234], { notes: ["1 234 567 ms "] }, found)]);
    for (let width = 20; width < 100; width++) {
      const lines = stripVTControlCharacters(jankText(given, width)).split("\n");
      for (const [at, line] of lines.entries())
        if (/\d$/.test(lines[at - 1] ?? "")) expect(line).not.toMatch(/^\s*(ms|Hz|\d{3}\b)/);
    }
  });

  test("names the original place and the place in the bundle", async () => {
    const original = { functionName: "countPrimes", source: "src/prime.ts", line: 4, column: 3 };
    const { text } = await report({}, [run([120], {}, { ...found, original, thirdParty: true })]);
    expect(text).toContain("script of a third party: countPrimes (src/prime.ts:4:3)");
    expect(text).toContain("in the bundle: js/app.js:3:5");
  });

  test("begins with what went wrong, and what ran at the end", async () => {
    const { text } = await report({}, [
      run([], { outcome: "timeout", message: "the limit of 30 s was reached", last: found }),
    ]);
    expect(text.split("\n").slice(0, 2)).toEqual([
      "stopped: the limit of 30 s was reached",
      "  at the end it ran script: work (js/app.js:3:5)",
    ]);
  });

  test("ends with the budget", async () => {
    const { text } = await report({ budget: parseBudget("stall=50,dropped=20") }, [run([120])]);
    expect(text.trimEnd().split("\n").slice(-2)).toEqual([
      "over budget: longest stall 120 ms, limit 50.0 ms",
      "within budget: dropped frames at 60 Hz 6, limit 20",
    ]);
  });

  test("fits a narrow terminal", async () => {
    const { given } = await report({ targets: [page("after"), page("before")], repeat: 2 }, [
      run([120], { notes: ["word ".repeat(40)] }, found),
    ]);
    for (const line of jankText(given, 60).split("\n"))
      expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(60);
  });
});

describe("equal causes", () => {
  test("are one, with the line of the longest stall", () => {
    const other = cause({ ...found, place: { ...found.place!, line: 4 } });
    const groups = groupCauses([
      ...run([50], {}, found).stalls,
      ...run([70, 20], {}, other).stalls,
      ...run([10]).stalls,
    ]);
    expect(groups.map(({ stalls, totalMs, longestMs }) => [stalls, totalMs, longestMs])).toEqual([
      [3, 140, 70],
      [1, 10, 10],
    ]);
    expect(groups[0]!.cause.place!.line).toBe(4);
  });
});

describe("the next step", () => {
  const recipe = (file: string) => readFileSync(new URL(`../../../../docs/${file}`, import.meta.url), "utf8");
  test.each([
    ["Move work() to a worker, or split it if it needs the DOM: ", found],
    ["Move work() to a worker: ", { ...found, place: { ...found.place!, url: "file:///app/work.ts" } }],
    [
      "Move sum() to a worker, or split it if it needs the DOM: ",
      { ...found, original: { functionName: "sum", source: "a.ts", line: 1, column: 1 } },
    ],
    ["Load this script after the first input", { ...found, thirdParty: true }],
    ["Pass less, move buffers, or pass tables of records", { ...found, builtIn: "postMessage" }],
    ["Split the work into slices", cause()],
    ["Parse in a worker and return only the fields", cause({ kind: "parse", builtIn: "JSON.parse" })],
    ["Send less HTML and CSS", cause({ kind: "parse" })],
    ["Read the layout once, before you write", cause({ ...found, kind: "layout" })],
    ["Change fewer elements at once", cause({ kind: "layout" })],
    ["Make less garbage", cause({ kind: "gc" })],
    ["Paint smaller areas", cause({ kind: "paint" })],
    ["Run again on a quiet machine.", cause({ kind: "machine" })],
    ["Run again: what the app causes comes back.", cause({ kind: "unknown" })],
  ])("is: %s", (begin, of) => {
    const step = nextStep(of);
    expect(step.startsWith(begin)).toBe(true);
    for (const [, file, anchor] of step.matchAll(/docs\/([a-z-]+\.md)(?:#([a-z-]+))?/g)) {
      const slugger = new GithubSlugger();
      const anchors = [...recipe(file!).matchAll(/^#+ (.*)$/gm)].map(([, title]) => slugger.slug(title!));
      expect(anchors).toContain(anchor ?? anchors[0]);
    }
  });
});

test("the causes that the developer can change come before the machine's and the unknown ones", () => {
  const of = (kind: "machine" | "unknown", ms: number) =>
    run([ms], {}, cause({ ...found, kind, because: kind })).stalls;
  const groups = groupCauses([...of("machine", 90), ...of("unknown", 95), ...run([50], {}, found).stalls]);
  expect(groups.map((group) => group.cause.kind)).toEqual([found.kind, "unknown", "machine"]);
});

describe("the page", () => {
  test("colours the timeline by cause, and has a legend of the causes that occur", async () => {
    const gc = cause({ kind: "gc", because: "garbage collection took 90 ms of it" });
    const stalls = [...run([50], {}, found).stalls, ...run([60], {}, gc).stalls];
    const { given } = await report({}, [run([60], { stalls })]);
    const html = jankHtml(given);
    const legend = /<ul class="legend">.*?<\/ul>/s.exec(html)![0];
    expect([...legend.matchAll(/class="dot (\w+)"><\/span>([^<]+)/g)].map(([, ...all]) => all)).toEqual([
      ["peer", "script"],
      ["gold", "garbage collection"],
    ]);
    for (const color of ["peer", "gold"]) expect(html).toContain(`fill="var(--${color})"`);
  });

  test("gives the next step of each cause, and breaks no line within a number", async () => {
    const { given } = await report({}, [run([1234], {}, found)]);
    const html = jankHtml(given);
    expect(html).toContain(
      '<p class="next">Move work() to a worker, or split it if it needs the DOM: docs/recipes.md#run-a-function-in-a-worker.</p>',
    );
    expect(html).toContain("1\u00a0234\u00a0ms of 2\u00a0000\u00a0ms");
    expect(html.replace(/<(style|svg|code).*?<\/\1>/gs, "")).not.toMatch(/\d (ms|Hz)\b/);
  });

  test("escapes what a page may contain", async () => {
    const evil = "</script><img src=x onerror=alert(1)>";
    const { given } = await report({ targets: [page(evil), page("b")], steps: [evil], budget: parseBudget("1") }, [
      run(
        [120],
        { notes: [evil], outcome: "failed", message: evil },
        cause({ ...found, code: evil, invoker: evil, place: { functionName: evil, url: evil } }),
      ),
      run([100]),
    ]);
    const html = jankHtml(given);
    expect(html).not.toContain("<img");
    expect(html).toContain("&lt;img");
    expect(html).toMatch(/<svg/);
  });
});
