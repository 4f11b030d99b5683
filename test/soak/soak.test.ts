// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the soak for a number of operations, and not for a time, so that its result does not depend on the machine's speed.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "clearway-soak-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Part {
  name: string;
  missing?: string;
  exited: boolean;
  faults: string[];
  after?: Record<string, number>;
  report: { started: number; settled: number; outcomes: Record<string, number> };
}

let runs = 0;
function soak(...args: string[]): Promise<{ status: number; output: string; parts: Part[] }> {
  const out = join(folder, String(runs++));
  return new Promise((resolve) => {
    const command = [join(root, "soak/run.mjs"), "--out", out, ...args];
    execFile(process.execPath, command, (error, stdout, stderr) => {
      const status = error === null ? 0 : Number(error.code);
      const parts = status === 2 ? [] : JSON.parse(readFileSync(join(out, "soak.json"), "utf8")).parts;
      resolve({ status, output: stdout + stderr, parts });
    });
  });
}

const part = (name: string): string => fileURLToPath(new URL(`parts/${name}.mjs`, import.meta.url));

describe("make soak", () => {
  test("settles every operation of every part, and leaves no thread, process or handle", {
    timeout: 600_000,
  }, async () => {
    const { status, output, parts } = await soak("--operations", "200", "--seed", "20261127");
    const left = parts.filter(({ missing }) => missing === undefined).map(({ faults, exited }) => ({ faults, exited }));
    expect(left, output).toEqual(left.map(() => ({ faults: [], exited: true })));
    expect(status).toBe(0);
    expect(parts.map(({ name }) => name)).toEqual(["pools", "processes", "channels", "plugins", "remote"]);
    for (const { missing, report, after } of parts) {
      if (missing !== undefined) continue;
      expect(report.settled).toBe(report.started);
      expect(report.started).toBeGreaterThanOrEqual(200);
      expect(after!["children"] ?? 0).toBe(0);
    }
    expect(output).toContain("operations settled");
  });

  test("reports an operation that does not settle", async () => {
    const { status, parts } = await soak(
      "--operations",
      "4",
      "--end-seconds",
      "10",
      "--minutes-at-most",
      "0.01",
      "--parts",
      part("hangs"),
    );
    expect(parts[0]!.faults).toEqual([
      expect.stringMatching(/^hangs did not end: open are silence for .* s, silence for .* s$/),
    ]);
    expect(status).toBe(1);
  });

  test("reports a part whose process ends", async () => {
    const { status, parts } = await soak("--operations", "4", "--parts", part("dies"));
    expect(parts[0]!.faults).toEqual(["dies ended during the run: exit code 7"]);
    expect(status).toBe(1);
  });

  test("reports a handle that keeps the process of a part running", async () => {
    const { status, parts } = await soak("--operations", "4", "--end-seconds", "10", "--parts", part("leaves"));
    expect(parts[0]!.faults).toEqual(["leaves left handles that keep its process running"]);
    expect(status).toBe(1);
  });

  test("reports errors that no operation expects, errors without a handler, and not those that are expected", async () => {
    const { status, parts } = await soak("--operations", "12", "--seed", "1", "--parts", part("fails"));
    const { faults, report } = parts[0]!;
    expect(new Set(faults.map((text) => text.split("\n")[0]))).toEqual(
      new Set(["both: TypeError: no operation expects this", "unhandled rejection: Error: no handler catches this"]),
    );
    expect(report.outcomes["expected: RangeError"]).toBeGreaterThan(0);
    expect(status).toBe(1);
  });

  test.each([
    [["--hours=-1"], "--hours must be a number of at least 0.000001: --hours=-1"],
    [["--hours", "1", "--minutes", "1"], "give one of --hours and --minutes"],
    [["--parts", "poolz"], 'there is no part and no file "poolz"'],
    [["--hour", "1"], "Unknown option '--hour'"],
  ])("refuses %j", async (args, message) => {
    const { status, output } = await soak(...args);
    expect(output).toContain(message);
    expect(status).toBe(2);
  });
});
