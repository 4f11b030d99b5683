// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the built command as a user runs it. The tests have their own runner and scenario.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { ANSWERS_VERSION, type LabResults } from "../src/engine/answer.js";
import type { RunRecord } from "../src/run/record.js";
import { answered } from "./answered.js";
import { BuiltCli, TESTED } from "./built-cli.js";
import { AUTHORS, executorRecord } from "./published/executor-record.js";

const cli = new BuiltCli();
afterAll(() => cli.remove());

const clearway = cli.run.bind(cli);

describe("clearway lab", () => {
  const lab = (...args: string[]) => clearway(["lab", ...args]);

  test("answers a question, and writes its answer and a report that can be written again", async () => {
    const { code, stdout } = await lab("codec", "--time", "5", "--seed", "7", "--out", "asked");
    expect(code).toBe(0);
    expect(stdout).toMatch("Encoding and decoding a message of 2 KB");
    const file = cli.path("asked", "results.json");
    const { version, run, answers, controls } = JSON.parse(readFileSync(file, "utf8")) as LabResults;
    expect(version).toBe(ANSWERS_VERSION);
    expect(run).toMatchObject({ seed: 7, interrupted: false, command: "clearway lab codec --time 5" });
    expect(answers.map(({ name, host }) => [name, host])).toEqual([["codec", "node"]]);
    expect(controls).toEqual([]);
    const page = cli.path("asked", "report.html");
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
    ["rounds of questions", ["--rounds", "2"], /--rounds is for --profile/],
    ["questions that are added to a run", ["--add-to", "kept"], /--add-to is for --profile published/],
    ["a time for experiments", ["--profile", "published", "--time", "9"], /--time is for questions/],
    ["a time that is none", ["--time", "soon"], /the time is 1 to 3600 seconds/],
  ])("refuses %s", async (_, args, message) => {
    const { code, stderr } = await lab(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe("clearway lab --profile published", () => {
  const published = (...args: string[]) => clearway(["lab", "--profile", "published", ...args], TESTED);
  const record = (folder: string) => JSON.parse(readFileSync(cli.path(folder, "record.json"), "utf8")) as RunRecord;

  test("measures each cell once a round, and writes the record", async () => {
    const env = { ...TESTED, CLEARWAY_FAKE_SIGNAL: "none" };
    const args = ["lab", "--profile", "published", "--host", "node", "--seed", "5", "--out", "fine"];
    const { code, stdout, stderr } = await clearway(args, env);
    expect(stderr).toMatch("3 cells, 4 measurements");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "4 of 4 measurements of 3 cells.\n" });
    const { cells, seed, experiments } = record("fine");
    expect({ seed, experiments: experiments?.length }).toEqual({ seed: 5, experiments: 1 });
    expect(cells.map(({ mechanism, rounds, unavailable }) => [mechanism, rounds.length, unavailable])).toEqual([
      ["fast", 2, undefined],
      ["stuck", 2, undefined],
      ["absent", 0, "it is not built yet: wait for it"],
    ]);
  });

  test("measures only what a kept run lacks, and refuses a folder without one", async () => {
    const env = { ...TESTED, CLEARWAY_FAKE_SIGNAL: "none" };
    const args = ["lab", "--profile", "published", "--host", "node", "--out"];
    await clearway([...args, "whole"], env);
    const whole = record("whole");
    mkdirSync(cli.path("kept"));
    const part = { ...whole, cells: whole.cells.filter(({ mechanism }) => mechanism !== "fast") };
    writeFileSync(cli.path("kept/record.json.gz"), gzipSync(JSON.stringify(part)));
    expect((await clearway([...args, "added", "--add-to", "kept"], env)).code).toBe(0);
    expect(record("added").cells.map(({ mechanism, rounds }) => [mechanism, rounds.length])).toEqual([
      ["fast", 2],
      ["absent", 0],
    ]);
    const { code, stderr } = await clearway([...args, "none", "--add-to", "whole"], env);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/there is no kept run: record\.json\.gz is not in whole/),
    ]);
    mkdirSync(cli.path("all"));
    const done = whole.cells.map((cell) => ({ ...cell, rounds: whole.cells[0]!.rounds }));
    writeFileSync(cli.path("all/record.json.gz"), gzipSync(JSON.stringify({ ...whole, cells: done })));
    const nothing = await clearway([...args, "empty", "--add-to", "all"], env);
    expect([nothing.code, nothing.stderr]).toEqual([0, "all has all of it: nothing is measured\n"]);
  });

  test("keeps the finished measurements on Ctrl-C", async () => {
    const { code, stderr } = await published("--host", "node", "--out", "cut");
    expect(code).toBe(130);
    expect(stderr).toMatch("interrupted: keeping the answers so far");
    expect(record("cut")).toMatchObject({ interrupted: true });
  });

  test("refuses an unknown scenario with the nearest one, and measures nothing", async () => {
    const { code, stderr } = await published("tyni", "--out", "refused");
    expect([code, stderr]).toEqual([2, expect.stringMatching('unknown scenario "tyni". Did you mean "tiny"?')]);
    expect(existsSync(cli.path("refused"))).toBe(false);
  });

  test("lists the scenarios, and refuses one that does not exist", async () => {
    expect((await published("list")).stdout).toMatch("Does the lab keep what it has measured?");
    expect((await published("list", "tyni")).code).toBe(2);
  });
});

describe("clearway report and export", () => {
  test.each([
    ["not JSON", "{", "is not JSON"],
    ["no run", "[]", "is not the results of a run (spec/results.schema.json)"],
    ["null", "null", "is not the results of a run"],
    ["results of another version", '{"version":9}', "is not the results of a run"],
  ])("refuse a file that is %s", async (_, text, message) => {
    writeFileSync(cli.path("odd.json"), text);
    const { code, stderr } = await clearway(["export", "markdown", "odd.json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`odd.json ${message}`)]);
  });

  test("name the missing file when the folder is not a run's", async () => {
    const { code, stderr } = await clearway(["report", "nowhere"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/nowhere does not exist: name the folder/)]);
  });

  test("overwrite no file that the lab has not written", async () => {
    mkdirSync(cli.path("taken"));
    writeFileSync(cli.path("taken/results.json"), JSON.stringify(answered()));
    writeFileSync(cli.path("taken/report.html"), "mine");
    const { code, stderr } = await clearway(["report", "taken"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("taken/report.html was not written by this command")]);
    expect((await clearway(["report", "taken/results.json"])).stderr).toContain("is a file: name the folder");
  });

  test("print a run", async () => {
    writeFileSync(cli.path("results.json"), JSON.stringify(answered()));
    expect((await clearway(["export", "markdown", "results.json"])).stdout).toMatch("# What to do on this machine");
    expect(JSON.parse((await clearway(["export", "jetpack", "."])).stdout)).toHaveProperty("benchmarks");
  });

  test("print the record of the published experiments, and refuse another one", async () => {
    mkdirSync(cli.path("experiments"));
    const file = cli.path("experiments", "record.json");
    writeFileSync(file, JSON.stringify(executorRecord(AUTHORS)));
    const { stdout } = await clearway(["export", "jetpack", "experiments"]);
    expect(JSON.parse(stdout).benchmarks[0].name).toBe("direct[work=arithmetic]");
    const { cells, ...rest } = executorRecord(AUTHORS);
    const lacking = JSON.stringify({ ...rest, cells: cells.map(({ params: _, ...cell }) => cell) });
    for (const other of ["null", '{"version":1,"profile":"published","cells":[]}', lacking]) {
      writeFileSync(file, other);
      const { code, stderr } = await clearway(["export", "jetpack", "experiments/record.json"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("is not the record of `clearway lab --profile")]);
    }
    const { stderr } = await clearway(["report", "experiments"]);
    expect(stderr).toContain("record.json, of --profile published, is for `clearway export jetpack`");
  });
});
