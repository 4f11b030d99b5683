// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests `clearway lab resume` with the built command. The fake runner ends the lab by a signal in the middle of a round.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunRecord } from "../src/run/record.js";
import { assertResults } from "../src/run/schema.js";
import { loadScenarios } from "../src/scenario/load.js";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { builtLab } from "./built-lab.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const cli = path.join(builtLab(), "cli.js");
const scratch = mkdtempSync(path.join(tmpdir(), "clearway-resume-"));
const at = (...names: string[]) => path.join(scratch, ...names);

const TESTED = { CLEARWAY_LAB_RUNNER: here("./fake-runner.mjs"), CLEARWAY_LAB_SCENARIOS: here("./scenarios") };

function clearway(args: string[], env: Record<string, string> = {}) {
  return new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { cwd: scratch, env: { ...process.env, ...TESTED, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

/** Returns a seed that measures the cell "stuck", which ends the lab, last in the first round. */
function seedWithStuckLast(): number {
  const cells = planCells(loadScenarios(here("./scenarios")), "quick", ["node"]);
  for (let seed = 0; ; seed++) {
    const first = planOrder(cells, seed).filter(({ round }) => round === 0);
    if (first.at(-1)?.cell.mechanism.name === "stuck") return seed;
  }
}

const seed = String(seedWithStuckLast());
const start = (out: string, signal: string) =>
  clearway(["lab", "tiny", "--host", "node", "--out", out, "--rounds", "2", "--seed", seed], {
    CLEARWAY_FAKE_SIGNAL: signal,
  });
const resume = (...args: string[]) => clearway(["lab", "resume", ...args], { CLEARWAY_FAKE_SIGNAL: "none" });
const json = (...names: string[]) => JSON.parse(readFileSync(at(...names), "utf8")) as never;
const plan = (out: string): Record<string, unknown> & { facts: Record<string, string> } =>
  json(out, "unfinished", "run.json");

/** The rounds of a record without what differs between two runs. */
const roundsOf = ({ cells }: RunRecord) =>
  cells.map(({ mechanism, control, rounds }) => [
    mechanism,
    control,
    rounds.map(({ round, position }) => [round, position]),
  ]);

beforeAll(async () => {
  expect((await start("whole", "none")).code).toBe(0);
  expect((await start("killed", "SIGKILL")).signal).toBe("SIGKILL");
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Returns a copy of the folder of the killed run. */
function killedRun(name: string): string {
  cpSync(at("killed"), at(name), { recursive: true });
  return name;
}

describe("clearway lab resume", () => {
  test("keeps every finished measurement of a killed run, and measures the others once", async () => {
    const out = killedRun("again");
    expect(readdirSync(at(out, "unfinished")).sort()).toEqual(["000000.json", "000001.json", "run.json"]);
    const { code, stderr } = await resume(out);
    expect(stderr).toMatch("going on: 2 measurements are kept");
    expect(code).toBe(0);
    const [whole, again] = [json("whole", "record.json"), json(out, "record.json")] as [RunRecord, RunRecord];
    expect(roundsOf(again)).toEqual(roundsOf(whole));
    expect(again).toMatchObject({ resumed: 1, seed: Number(seed), done: 6, planned: 6, interrupted: false });
    expect(whole).not.toHaveProperty("resumed");
    const results: unknown = json(out, "results.json");
    assertResults(results);
    expect(results.warnings.find(({ code: each }) => each === "resumed")?.message).toMatch("went on once");
    expect(readdirSync(at(out)).sort()).toEqual(["record.json", "report.html", "results.json"]);
  });

  test("goes on after Ctrl-C, in the folder out unless it is named", async () => {
    const cut = await start("out", "SIGINT");
    expect([cut.code, cut.stderr]).toEqual([
      130,
      expect.stringContaining("To go on with the run: clearway lab resume out"),
    ]);
    const { code } = await resume();
    expect(code).toBe(0);
    expect(json("out", "record.json")).toMatchObject({ resumed: 1, done: 6, interrupted: false });
  });

  test("leaves out what --without names, keeps the other measurements, and remembers it", async () => {
    const out = killedRun("without");
    const args = ["lab", "resume", out, "--without", "tiny/stuck"];
    // The fake runner ends the lab when it measures the cell "stuck".
    const { code, stderr } = await clearway(args, { CLEARWAY_FAKE_SIGNAL: "SIGKILL" });
    expect([code, stderr]).toEqual([0, expect.stringContaining("going on: 2 measurements are kept")]);
    const [whole, again] = [json("whole", "record.json"), json(out, "record.json")] as [RunRecord, RunRecord];
    expect(roundsOf(again)).toEqual(roundsOf(whole).filter(([mechanism]) => mechanism !== "stuck"));
    expect(again).toMatchObject({ done: 4, planned: 4, interrupted: false });
  });

  test("counts the load of other programs before the interruption, too", async () => {
    const out = killedRun("load");
    const first: object = json(out, "unfinished", "000000.json");
    expect(first).toMatchObject({ rest: { ms: expect.any(Number), busyMs: expect.any(Number) } });
    // So long a rest that the others do not count.
    const kept = { ...first, rest: { ms: 1e9, busyMs: 1.5e9 } };
    writeFileSync(at(out, "unfinished", "000000.json"), JSON.stringify(kept));
    expect((await resume(out)).code).toBe(0);
    expect(json(out, "record.json")).toMatchObject({ machine: { otherCores: 1.5 } });
  });

  test("goes on a second time after a second kill", async () => {
    const out = killedRun("twice");
    expect((await clearway(["lab", "resume", out], { CLEARWAY_FAKE_SIGNAL: "SIGKILL" })).signal).toBe("SIGKILL");
    expect((await resume(out)).code).toBe(0);
    expect(json(out, "record.json")).toMatchObject({ resumed: 2, done: 6 });
  });

  test.each([
    ["is truncated", '{"position":0,"cell":"'],
    ["is of another cell", '{"position":0,"cell":"other","tookMs":1,"failure":"no"}'],
    ["has another position", '{"position":4,"cell":"other","tookMs":1,"failure":"no"}'],
    ["is null", "null"],
    ["has a malformed rest", '{"position":0,"cell":"x","tookMs":1,"failure":"no","rest":{"ms":"1"}}'],
    [
      "has half a measurement",
      '{"position":0,"cell":"x","tookMs":1,"recorded":{"round":0,"measurement":{"values":{}}}}',
    ],
  ])("measures again what a file that %s would have kept", async (name, text) => {
    const out = killedRun(`malformed ${name}`);
    writeFileSync(at(out, "unfinished", "000000.json"), text);
    expect((await resume(out)).code).toBe(0);
    expect(json(out, "record.json")).toMatchObject({ done: 6, planned: 6 });
    expect(roundsOf(json(out, "record.json"))).toEqual(roundsOf(json("whole", "record.json")));
  });

  test.each<[string, (kept: ReturnType<typeof plan>) => object, string]>([
    ["another machine", (kept) => ({ facts: { ...kept.facts, CPU: "Other" } }), "CPU was Other, is "],
    ["another version", (kept) => ({ facts: { ...kept.facts, Node: "v18.0.0" } }), "Node was v18.0.0, is v"],
    ["other cells", () => ({ digest: "0" }), "the cells or their order have changed"],
  ])("refuses a run of %s, and says what to do", async (name, change, message) => {
    const out = killedRun(`refused ${name}`);
    const kept = plan(out);
    writeFileSync(at(out, "unfinished", "run.json"), JSON.stringify({ ...kept, ...change(kept) }));
    const { code, stderr } = await resume(out);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toMatch("start the run again with clearway lab");
    expect(existsSync(at(out, "unfinished", "000001.json"))).toBe(true);
  });

  test.each([
    ["--rounds", "3", "rounds was 2, is 3"],
    ["--profile", "full", "profile was quick, is full"],
    ["--seed", "1", "seed was "],
    ["--host", "jvm", "host was node, is jvm"],
  ])("refuses %s %s, which is not the run's", async (option, value, message) => {
    const { code, stderr } = await resume("killed", option, value);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toMatch("clearway lab resume killed");
  });

  test("accepts the run's own options", async () => {
    const { code } = await resume(killedRun("same"), "--rounds", "2", "--host", "node");
    expect(code).toBe(0);
  });

  test.each([
    [
      "a folder without a run",
      (out: string) => rmSync(at(out, "unfinished"), { recursive: true }),
      "has no unfinished run",
    ],
    ["a plan that is not JSON", (out: string) => writeFileSync(at(out, "unfinished/run.json"), "{"), "is not JSON"],
    ["a plan of another kind", (out: string) => writeFileSync(at(out, "unfinished/run.json"), "[]"), "unknown version"],
    [
      "a malformed plan",
      (out: string) => writeFileSync(at(out, "unfinished/run.json"), JSON.stringify({ ...plan(out), host: "node" })),
      "has a malformed field: host",
    ],
  ])("refuses %s", async (name, spoil, message) => {
    const out = killedRun(`spoiled ${name}`);
    spoil(out);
    const { code, stderr } = await resume(out);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("is not needed: a new run replaces the unfinished one, and says so", async () => {
    const out = killedRun("replaced");
    const { code, stderr } = await start(out, "none");
    expect([code, stderr]).toEqual([0, expect.stringContaining("clearway lab resume would have gone on with it")]);
    expect(json(out, "record.json")).not.toHaveProperty("resumed");
  });

  test("starts no run in a folder that cannot be written", async () => {
    writeFileSync(at("file"), "");
    const { code, stderr } = await start("file", "none");
    expect([code, stderr]).toEqual([2, expect.stringContaining("is a file")]);
  });
});
