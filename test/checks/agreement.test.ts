// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { agreementPage, collected, rowsOf } from "../../scripts/figures/agreement.mjs";

const compared = (verdict: string, ratio: number) => ({ label: "null", verdict, ratio });
const results = (verdict: string, ratio: number, cpu = "Xeon") => ({
  machine: { cpu, cores: 2, otherCores: 0.02 },
  build: { clearway: "1.2.3", commit: "abc123" as string | null },
  run: {
    startedAt: "2026-01-01T00:00:00Z",
    durationMs: 120_000,
    seed: 1,
    runtimes: { node: "20", chromium: "1", jvm: "25" },
  },
  answers: [{ question: "call", comparisons: [compared(verdict, ratio)] }],
});
const kept = (...found: [string, number][]) =>
  collected(found.map(([verdict, ratio]) => ({ state: "quiet", results: results(verdict, ratio) })));

describe("the agreement of runs", () => {
  test.each([
    [
      "contradiction",
      [
        ["decided", 0.5],
        ["decided", 2],
      ],
    ],
    [
      "near the limit",
      [
        ["decided", 1.3],
        ["no difference", 1.05],
      ],
    ],
    [
      undefined,
      [
        ["decided", 1.3],
        ["decided", 2],
      ],
    ],
    [
      undefined,
      [
        ["decided", 0.5],
        ["undecided", 2],
      ],
    ],
    [
      undefined,
      [
        ["no difference", 1.05],
        ["undecided", 2],
      ],
    ],
  ] as [string | undefined, [string, number][]][])("is %s for %j", (disagreement, found) => {
    expect(rowsOf(kept(...found))[0].disagreement).toBe(disagreement);
  });

  test("is no contradiction when runs beside different loads are decided in opposite directions", () => {
    const runs = [
      { state: "quiet", results: results("decided", 0.5) },
      { state: "busy", results: results("decided", 1.5) },
    ];
    expect(rowsOf(collected(runs))[0].disagreement).toBe("depends on the load");
    const again = [...runs, { state: "busy", results: results("decided", 0.7) }];
    expect(rowsOf(collected(again))[0].disagreement).toBe("contradiction");
  });

  test("counts contradictions and shows the span of the ratios and the verdicts of each state", () => {
    const runs = [
      { state: "quiet", results: results("decided", 0.5) },
      { state: "quiet", results: results("undecided", 0.75) },
      { state: "busy", results: results("decided", 1.5) },
    ];
    const page = agreementPage(collected(runs));
    expect(page).toContain("Comparisons: 1. Decided in opposite directions by two runs of the same state: 0.");
    expect(page).toContain(
      "| call: null | 0.5 to 0.75 | 1 decided, 1 undecided | 1.5 to 1.5 | 1 decided | depends on the load |",
    );
  });

  test("says which builds were measured and what other programs used, as each run keeps it", () => {
    const [quiet, busy] = [results("decided", 2), results("decided", 2)];
    busy.machine.otherCores = 1.01;
    busy.build.commit = "def456";
    const record = collected([
      { state: "quiet", results: quiet },
      { state: "busy", results: busy },
    ]);
    expect(record.runs).toMatchObject([
      { clearway: "1.2.3", commit: "abc123", otherCores: 0.02 },
      { commit: "def456", otherCores: 1.01 },
    ]);
    expect(agreementPage(record)).toContain(
      " Measured: Clearway 1.2.3 (abc123), Clearway 1.2.3 (def456). Used by other programs: quiet: 0.02 to 0.02 cores; busy: 1.01 to 1.01 cores.",
    );
    const unknown = { ...record, runs: record.runs.map(({ commit: _, ...run }: { commit: string }) => run) };
    expect(agreementPage(unknown)).not.toContain("Measured");
  });

  test("refuses a run without a commit or without the other programs' use, because its answers are no evidence", () => {
    const loose = results("decided", 2);
    loose.build.commit = null;
    expect(() => collected([{ state: "quiet", results: loose }])).toThrow("has no commit");
    const { otherCores: _, ...machine } = results("decided", 2).machine;
    expect(() => collected([{ state: "quiet", results: { ...results("decided", 2), machine } }])).toThrow(
      "does not say what other programs used",
    );
  });

  test("refuses a run of another machine, a run without answers, and no run", () => {
    const one = { state: "quiet", results: results("decided", 2) };
    expect(() => collected([one, { state: "quiet", results: results("decided", 2, "EPYC") }])).toThrow(
      "another machine",
    );
    expect(() => collected([{ state: "quiet", results: { ...one.results, answers: undefined } }])).toThrow(
      "not planned",
    );
    expect(() => collected([])).toThrow("name at least one run");
  });
});
