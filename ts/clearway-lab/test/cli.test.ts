// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the built command as a user runs it. The tests have their own runner and scenario.

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listing } from "../src/cli/list.js";
import { ANSWERS_VERSION, type LabResults } from "../src/engine/answer.js";
import { assertJetpack } from "../src/export/schema.js";
import { assertResults } from "../src/run/schema.js";
import { loadScenarios } from "../src/scenario/load.js";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { builtLab } from "./built-lab.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const cli = path.join(builtLab(), "cli.js");
const scratch = mkdtempSync(path.join(tmpdir(), "clearway-cli-"));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const TESTED = { CLEARWAY_LAB_RUNNER: here("./fake-runner.mjs"), CLEARWAY_LAB_SCENARIOS: here("./scenarios") };

function clearway(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [cli, ...args],
      { cwd: scratch, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : ((error as { code?: number }).code ?? -1), stdout, stderr });
      },
    );
  });
}

function results(folder: string) {
  const value: unknown = JSON.parse(readFileSync(path.join(scratch, folder, "results.json"), "utf8"));
  assertResults(value);
  return value;
}

/** Returns a seed that measures the cell "stuck", which interrupts the lab, last in the first round. */
function seedWithStuckLast(): number {
  const cells = planCells(loadScenarios(here("./scenarios")), "quick", ["node"]);
  for (let seed = 0; ; seed++) {
    const first = planOrder(cells, seed).filter(({ round }) => round === 0);
    if (first.at(-1)?.cell.mechanism.name === "stuck") return seed;
  }
}

describe("clearway lab", () => {
  const lab = (...args: string[]) => clearway(["lab", ...args]);

  test("answers a question, and writes its answer and a report that can be written again", async () => {
    const { code, stdout } = await lab("codec", "--time", "5", "--seed", "7", "--out", "asked");
    expect(code).toBe(0);
    expect(stdout).toMatch("Encoding and decoding a message of 2 KB");
    const file = path.join(scratch, "asked", "results.json");
    const { version, run, answers, controls } = JSON.parse(readFileSync(file, "utf8")) as LabResults;
    expect(version).toBe(ANSWERS_VERSION);
    expect(run).toMatchObject({ seed: 7, interrupted: false, command: "clearway lab codec --time 5" });
    expect(answers.map(({ name, host }) => [name, host])).toEqual([["codec", "node"]]);
    expect(controls).toEqual([]);
    const page = path.join(scratch, "asked", "report.html");
    const written = readFileSync(page, "utf8");
    rmSync(page);
    expect((await clearway(["report", "asked"])).code).toBe(0);
    expect(readFileSync(page, "utf8")).toBe(written);
  });

  test("lists the questions", async () => {
    const { code, stdout } = await lab("list", "call");
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual(["call", "call-two-cores", "call-at-once", "call-after-rest"]);
  });

  test.each([
    ["an unknown question", ["cal"], /unknown question "cal"\. Did you mean "call"\?/],
    ["an option of scenarios without a profile", ["--rounds", "2"], /--rounds is for scenarios: add --profile/],
    ["a time for scenarios", ["students", "--profile", "quick", "--time", "9"], /--time is for questions/],
    ["a time that is none", ["--time", "soon"], /the time is 1 to 3600 seconds/],
  ])("refuses %s", async (_, args, message) => {
    const { code, stderr } = await lab(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("clearway lab", () => {
  let measured: Awaited<ReturnType<typeof clearway>>;
  beforeAll(async () => {
    measured = await clearway(
      ["lab", "--profile", "quick", "tiny/fast", "--host", "node", "--out", "fine", "--seed", "5"],
      TESTED,
    );
  });

  test("measures, writes valid results and a report, and prints a summary", () => {
    const { code, stdout, stderr } = measured;
    expect(stderr).toMatch("2 cells on node, 10 measurements");
    expect(code).toBe(0);
    expect(stdout).toMatch("Doubts");
    const { run, cells } = results("fine");
    expect(run).toMatchObject({ seed: 5, measurementsDone: 10, interrupted: false });
    expect(cells.map(({ status, metrics }) => [status, "work" in metrics])).toEqual([
      ["ok", true],
      ["ok", true],
    ]);
    expect(readdirSync(path.join(scratch, "fine")).sort()).toEqual(["record.json", "report.html", "results.json"]);
  });

  test("measures the number of rounds in --rounds, and refuses an invalid number", async () => {
    const once = await clearway(
      ["lab", "--profile", "quick", "tiny/fast", "--host", "node", "--out", "once", "--rounds", "1"],
      TESTED,
    );
    expect(once.stderr).toMatch("2 cells on node, 2 measurements");
    expect(results("once").run.measurementsDone).toBe(2);
    for (const none of ["0", "many"]) {
      const refused = await clearway(["lab", "--profile", "quick", "--rounds", none], TESTED);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("from 1 to 1000")]);
    }
  });

  test("exports a run as Jetpack Benchmark JSON", async () => {
    const { code, stdout } = await clearway(["export", "jetpack", "fine"]);
    expect(code).toBe(0);
    assertJetpack(JSON.parse(stdout));
  });

  test.each([
    ["not JSON", "{", "is not the record of a run"],
    ["no run", "[]", "is not the record of a run"],
    ["null", "null", "is not the record of a run"],
    ["a record of another version", '{"version":9,"cells":[{"rounds":[]}]}', "is not the record of a run"],
  ])("refuses a file that is %s", async (_, text, message) => {
    writeFileSync(path.join(scratch, "odd.json"), text);
    const { code, stderr } = await clearway(["export", "markdown", "odd.json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`odd.json ${message}`)]);
  });

  test("keeps the finished measurements on Ctrl-C and reports the other cells as not measured", async () => {
    const seed = String(seedWithStuckLast());
    const args = [
      "lab",
      "--profile",
      "quick",
      "tiny",
      "--host",
      "node",
      "--out",
      "cut",
      "--rounds",
      "2",
      "--seed",
      seed,
    ];
    const { code, stderr, stdout } = await clearway(args, TESTED);
    expect(stderr).toMatch("keeping the finished measurements");
    expect(code).toBe(130);
    expect(stdout).toMatch("results.json written");
    const { run, cells, warnings } = results("cut");
    expect(run).toMatchObject({ interrupted: true, measurementsDone: 2, measurementsPlanned: 6 });
    const status = Object.fromEntries(cells.map(({ mechanism, status, why }) => [mechanism, [status, why]]));
    expect(status["fast"]).toEqual(["ok", undefined]);
    expect(status["stuck"]).toEqual(["unavailable", "the run was interrupted before this was measured: run it again"]);
    expect(status["absent"]).toEqual(["unavailable", "it is not built yet: wait for it"]);
    expect(warnings[0]).toMatchObject({ code: "interrupted" });
    expect(readFileSync(path.join(scratch, "cut", "report.html"), "utf8")).toMatch("interrupted");
  });

  test("answers an unknown name with the valid names and measures nothing", async () => {
    const family = await clearway(["lab", "--profile", "quick", "onload"]);
    expect([family.code, family.stderr]).toEqual([
      2,
      expect.stringMatching(/unknown family or cell "onload".*isolate, memory, push, channel, offload/),
    ]);
    const named = await clearway(["lab", "--profile", "quick", "--family", "onload"]);
    expect([named.code, named.stderr]).toEqual([family.code, family.stderr]);
    const mechanism = await clearway(["lab", "--profile", "quick", "students/direkt"]);
    expect([mechanism.code, mechanism.stderr]).toEqual([2, expect.stringMatching(/Mechanisms of students: direct/)]);
    const profile = await clearway(["lab", "--profile", "slow"]);
    expect([profile.code, profile.stderr]).toEqual([2, expect.stringMatching(/Profiles: quick, full/)]);
    expect(readdirSync(scratch)).not.toContain("out");
  });
});

describe("clearway report", () => {
  test("writes the page again from the files of a run", async () => {
    rmSync(path.join(scratch, "fine", "report.html"));
    const { code, stdout } = await clearway(["report", "fine"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching("report.html written")]);
    expect(readFileSync(path.join(scratch, "fine", "report.html"), "utf8")).toMatch("<!doctype html>");
  });

  test("names the missing file when the folder is not a run's", async () => {
    const { code, stderr } = await clearway(["report", "nowhere"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/nowhere.results\.json does not exist: name the folder/)]);
  });
});

describe("clearway lab list", () => {
  test("lists the cells that can run, and those that cannot with the reason", async () => {
    const { code, stdout } = await clearway(["lab", "--profile", "quick", "list", "--host", "node"], TESTED);
    expect(code).toBe(0);
    expect(stdout).toMatch("Fake 1");
    expect(stdout).toMatch(/tiny\/fast +answers at once \[node\]/);
    expect(stdout).toMatch("not on node: it is not built yet: wait for it");
  });

  test("gives the reason for a host that cannot run, for every cell", () => {
    const text = listing(loadScenarios(), ["chromium"], { described: {}, problems: { chromium: "no Chromium found" } });
    expect(text).toMatch("chromium  cannot run: no Chromium found");
    expect(text).not.toMatch(/\[chromium\]/);
    expect(text).toMatch("not on chromium: Piscina needs Node's worker_threads: use --host node");
  });
});
