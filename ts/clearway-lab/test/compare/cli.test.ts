// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests `clearway compare` as a user runs it: exit status, text, JSON, refusals.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunRecord } from "../../src/run/record.js";
import { builtLab } from "../built-lab.js";
import { record } from "../record.js";
import { cellOf, keptRun } from "./simulated-runs.js";

const scratch = mkdtempSync(path.join(tmpdir(), "clearway-compare-"));

function clearway(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "80" };
  return clearwayWith(env, ...args);
}

function clearwayWith(
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(builtLab(), "cli.js"), ...args],
      { cwd: scratch, env },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : ((error as { code?: number }).code ?? -1), stdout, stderr }),
    );
  });
}

/** Writes the record of a run in which the cell of Clearway takes `us`. */
function writeRun(name: string, us: number, more: Partial<RunRecord> = {}): void {
  const around = (middle: number, turn: number) =>
    [0, 1, 2, 3, 4].map((at) => middle * (1 + 0.004 * (((at + turn) % 5) - 2)));
  const references = Array.from({ length: 10 }, (_, at) => cellOf(`reference-${at}`, {}, around(50 + at, at + us)));
  const cells = [
    ...references,
    cellOf("clearway", { size: 1 }, around(us, us)),
    cellOf("clearway-noisy", {}, noisy(us)),
  ];
  mkdirSync(path.join(scratch, name));
  writeFileSync(
    path.join(scratch, name, "record.json"),
    JSON.stringify(keptRun({ startedAt: name, cells, ...more }).record),
  );
}

const noisy = (us: number) => [80, 130, 100, 95, 120].map((_, at, all) => all[(at * us) % 5] as number);

beforeAll(() => {
  writeRun("before", 100);
  writeRun("after", 101);
  writeRun("slow", 152);
  writeRun("node24", 152, { build: { ...record().build, node: "v24.0.0" } });
  writeRun("elsewhere", 152, { machine: { ...record().machine, cpu: "Another" } });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("clearway compare", () => {
  test("prints a sorted table and a summary, in at most the given width", async () => {
    for (const columns of ["80", "50"]) {
      const { code, stdout } = await clearwayWith(
        { ...process.env, NO_COLOR: "1", COLUMNS: columns },
        "compare",
        "before",
        "slow",
      );
      expect(code).toBe(0);
      const lines = stdout.split("\n");
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(Number(columns));
      const text = stdout.replace(/\s+/g, " ");
      expect(text).toMatch(/Unchanged code was .* in B \(10 cells\)/);
      expect(text).toMatch(/slower 1\.5\d \[1\.\d\d, 1\.\d\d\] 5 [2-5]\.\d simulated\/clearway node/);
      expect(text).toMatch("12 cells compared: 1 slower, 0 faster, 1 undecided, 10 no difference; 0 not compared.");
      expect(text.indexOf("slower 1.5")).toBeLessThan(text.indexOf("undecided 1."));
    }
  });

  test("prints JSON with the same verdicts", async () => {
    const { stdout } = await clearway("compare", "before", "slow", "--json");
    const printed = JSON.parse(stdout) as { cells: Record<string, unknown>[] };
    expect(printed).toMatchObject({ version: 1, paired: true, sameRun: false, differences: [], notCompared: [] });
    expect(printed.cells[0]).toMatchObject({ mechanism: "clearway", verdict: "slower", metric: "both", rounds: 5 });
    expect(printed.cells).toHaveLength(12);
  });

  test("says what differs between the runs, and goes on", async () => {
    const { code, stdout } = await clearway("compare", "before", "elsewhere");
    const text = stdout.replace(/\s+/g, " ");
    expect(code).toBe(0);
    expect(text).toMatch("The CPU differs: A CPU in A, Another in B. Next: measure both on one machine.");
    expect(text).toMatch("their rounds are not paired");
    expect((await clearway("compare", "before", "before")).stdout).toMatch("A and B are one and the same run.");
  });

  test("compares only the named cells, and another figure", async () => {
    const named = await clearway("compare", "before", "slow", "--cells", "simulated/clearway");
    expect(named.stdout).toMatch("1 cell compared: 1 slower");
    const other = await clearway("compare", "before", "slow", "--metric", "total");
    expect(other.stdout).toMatch("simulated/clearway node: A: it has no figure total");
    expect(other.stdout).toMatch("0 cells compared");
  });

  test.each<[string[], string]>([
    [["before"], "missing required argument 'b'"],
    [["before", "nowhere"], "nowhere: it does not exist: name the folder"],
    [["before", "after", "--metric", "both.p51"], "a figure is a name, or a name with .p1"],
    [["before", "after", "--cells", "pool"], 'neither run has a cell "pool". Scenarios: simulated\n'],
    [
      ["before", "after", "--cells", "simulated/pool"],
      "Mechanisms of simulated: clearway, clearway-noisy, reference-0",
    ],
  ])("refuses %j with status 2", async (args, message) => {
    const { code, stdout, stderr } = await clearway("compare", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe("clearway compare --max", () => {
  test("passes with status 0, and fails with status 1 and the slower cells", async () => {
    const passed = await clearway("compare", "before", "after", "--max", "1.10");
    expect([passed.code, passed.stdout]).toEqual([
      0,
      expect.stringContaining("Passed at --max 1.1: 2 cells gated: 0 slower"),
    ]);
    const failed = await clearway("compare", "before", "slow", "--max", "1.10");
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringContaining("FAILED at --max 1.1: 2 cells gated: 1 slower"),
    ]);
    expect(failed.stdout).toMatch(/slower +1\.5\d \[1\.\d\d, 1\.\d\d\] +5 +[2-5]\.\d +simulated\/clearway node/);
    expect((await clearway("compare", "slow", "before", "--max", "1")).code).toBe(0);
  });

  test("fails for undecided cells only if it is asked to", async () => {
    const args = ["compare", "before", "after", "--max", "1.10", "--cells", "simulated/clearway-noisy"];
    expect((await clearway(...args)).code).toBe(0);
    const { code, stdout } = await clearway(...args, "--fail-undecided", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "failed", max: 1.1, cells: [{ status: "undecided" }] });
  });

  test("refuses runs that differ in more than the code, unless that is allowed", async () => {
    const { code, stdout, stderr } = await clearway("compare", "before", "node24", "--max", "1.1");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch("Node: v20 in A, v24.0.0 in B (measure both with the same runtime and options)");
    expect(stderr).toMatch("To go on in spite of that: --allow runtime");
    expect((await clearway("compare", "before", "node24", "--max", "1.1", "--allow", "runtime")).code).toBe(1);
    expect((await clearway("compare", "before", "elsewhere", "--max", "1.1", "--allow", "runtime")).code).toBe(2);
  });

  test.each<[string[], string]>([
    [["--max", "0.9"], "a limit is a ratio of at least 1"],
    [["--max", "ten"], "a limit is a ratio of at least 1"],
    [["--max", "1.1", "--allow", "everything"], "Allowed choices are machine, runtime, profile, pinning"],
    [["--max", "1.1", "--metric", "total"], "there is nothing to compare"],
  ])("refuses %j with status 2", async (args, message) => {
    const { code, stderr } = await clearway("compare", "before", "after", ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
