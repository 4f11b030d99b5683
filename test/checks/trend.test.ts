// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the generator of lab/records/trend.html.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { keptRuns, trendProblem } from "../../scripts/figures/trend.mjs";

const folder = mkdtempSync(join(tmpdir(), "clearway-trend-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the page of the trend", () => {
  test("counts the folders that clearway keep made, and nothing else", () => {
    for (const name of ["2026-01-01-a", "2026-02-01-a", "notes"]) mkdirSync(join(folder, name));
    for (const name of ["2026-01-01-a", "2026-02-01-a"]) writeFileSync(join(folder, name, "record.json.gz"), "");
    writeFileSync(join(folder, "promises.json"), "{}");
    expect(keptRuns(folder)).toBe(2);
  });

  test("must not exist for one run, and must show the kept ones from two runs on", () => {
    const never = () => {
      throw new Error("one run has no trend");
    };
    expect(trendProblem(1, undefined, never)).toBeUndefined();
    expect(trendProblem(1, "<html>", never)).toContain("fewer than two runs are kept");
    expect(trendProblem(2, "<html>", () => "<html>")).toBeUndefined();
    for (const page of [undefined, "<html>old"])
      expect(trendProblem(2, page, () => "<html>")).toContain("differs from the kept runs");
  });
});
