// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the command as a user runs it. The tests bundle the command from the sources and run it in a separate process.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const schema = here("./thermometer.json");
const { version } = JSON.parse(readFileSync(here("../../package.json"), "utf8")) as { version: string };
// This folder is inside the package, so Node resolves the package's peer dependency clearway.
const inside = here("../../.cache/test-command");
const outside = mkdtempSync(join(tmpdir(), "clearway-native-"));

beforeAll(async () => {
  for (const folder of [inside, outside]) {
    const outfile = join(folder, "dist/cli.js");
    await build({
      entryPoints: [here("../../src/cli/main.ts")],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["clearway/*"],
    });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version }));
  }
  mkdirSync(join(outside, "written"));
});
afterAll(() => {
  for (const folder of [inside, outside]) rmSync(folder, { recursive: true, force: true });
});

function command(args: string[], folder = inside) {
  const options = { cwd: outside, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "dist/cli.js"), ...args], options);
  return { status, stdout, stderr };
}

describe("clearway-native", () => {
  test("gen prints the same code that it writes, and --check finds a file that differs", () => {
    const file = join(outside, "written/thermometer.h");
    const written = command(["gen", schema, "--c", file]);
    expect(written).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(command(["gen", schema, "--c", "-"]).stdout).toBe(readFileSync(file, "utf8"));
    expect(command(["gen", schema, "--c", file, "--check"]).status).toBe(0);
    const stale = command(["gen", schema, "--c", file, "--check", "--name", "sensor"]);
    expect(stale).toMatchObject({ status: 1, stderr: expect.stringContaining("is not what the schema generates") });
  });

  test.each([
    [[], "no command is given"],
    [["generate", schema], "unknown command: command=generate"],
    [["gen"], "name the file of a schema"],
    [["gen", schema, "other.json", "--c", "-"], "gen reads one schema; also given: other.json"],
    [["gen", schema], "name what to write"],
    [["gen", "missing.json", "--c", "-"], "missing.json does not exist"],
    [["gen", schema, "--java", "x"], "--java"],
    [["gen", schema, "--c"], "--c"],
  ])("refuses the arguments %j with one line and status 2", (args, message) => {
    const { status, stdout, stderr } = command(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(message);
  });

  test("names the missing package when it has to read a schema without clearway", () => {
    const { status, stderr } = command(["gen", schema, "--c", "-"], outside);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: "error: the package clearway, which reads schemas, is not installed: npm install clearway\n",
    });
  });

  test("prints its help and its version without clearway", () => {
    expect(command(["--help"], outside)).toMatchObject({ status: 0, stdout: expect.stringContaining("--rust <file>") });
    expect(command(["--version"], outside)).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });
});
