// SPDX-License-Identifier: MIT OR Apache-2.0
// Ctrl-C during a run: the finished measurements are kept, and no process and no lock is left.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LabResults } from "../src/engine/answer.js";
import { findServer } from "../src/remote/open.js";
import type { Experiment } from "../src/scenario/experiment.js";
import { BuiltCli, here, TESTED } from "./built-cli.js";

let cli: BuiltCli;
beforeAll(() => {
  cli = new BuiltCli();
  // The host chromium has one runner for the whole run, as the JVM has.
  mkdirSync(cli.path("scenarios"));
  mkdirSync(cli.path("scenarios", "published"));
  writeFileSync(cli.path("scenarios", "tiny.json"), readFileSync(here("./scenarios/tiny.json")));
  const experiment = JSON.parse(readFileSync(here("./scenarios/published/1-tiny.json"), "utf8")) as Experiment;
  for (const { sets } of experiment.measures) for (const set of sets) delete set.hosts;
  writeFileSync(cli.path("scenarios", "published", "1-tiny.json"), JSON.stringify(experiment));
});
afterAll(() => cli.remove());

/** A variable that every process of a run inherits. */
const MARK = "CLEARWAY_TEST_MARK";

/** Waits until no process of the run is left. The test's own limit ends a wait that takes too long. */
async function allEnded(mark: string): Promise<number> {
  while (marked(mark).length > 0) await sleep(5);
  return 0;
}

/** Returns the processes of the run. */
const marked = (mark: string): string[] =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && textOf(pid, "environ").includes(`${MARK}=${mark}`));

const commandOf = (pid: string): string => textOf(pid, "cmdline");

function textOf(pid: string, file: "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // The process has ended, or is another user's.
    return "";
  }
}

describe.skipIf(!existsSync("/proc/self/environ"))("an interrupted lab", () => {
  // "stuck" interrupts the lab and never answers.
  test.each(["node", "chromium"])("ends at once and leaves nothing, on a host like %s", async (host) => {
    const env = { ...TESTED, CLEARWAY_LAB_SCENARIOS: cli.path("scenarios"), [MARK]: host };
    const args = ["lab", "--profile", "published", "tiny", "--host", host, "--rounds", "1", "--out", `cut ${host}`];
    const { code, stderr } = await cli.run(args, env);
    expect(code).toBe(130);
    expect(stderr).toMatch("interrupted: keeping the answers so far");
    expect(readdirSync(cli.path(`cut ${host}`))).toEqual(["record.json"]);
    expect(await allEnded(host)).toBe(0);
  });

  test("keeps the answers so far and leaves no arm", async () => {
    const env = { ...process.env, [MARK]: "questions" };
    const args = [cli.program, "lab", "codec", "--time", "600", "--out", "questions"];
    const lab = spawn(process.execPath, args, { cwd: cli.scratch, env, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(lab, "exit");
    lab.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("now codec")) lab.kill("SIGINT");
    });
    expect((await ended)[0]).toBe(130);
    const results = JSON.parse(readFileSync(cli.path("questions", "results.json"), "utf8")) as LabResults;
    expect(results.run.interrupted).toBe(true);
    expect(results.answers.map(({ name, failed }) => [name, failed])).toEqual([["codec", undefined]]);
    expect(await allEnded("questions")).toBe(0);
  });

  test.skipIf(findServer() === undefined)("leaves no server when it is killed", async () => {
    const env = { ...process.env, ...TESTED, [MARK]: "killed" };
    const args = [cli.program, "lab", "remote-call", "--limits", "--time", "600", "--out", "killed"];
    const lab = spawn(process.execPath, args, { cwd: cli.scratch, env, stdio: "ignore" });
    const ended = once(lab, "exit");
    while (!marked("killed").some((pid) => commandOf(pid).includes("nats-server")) && lab.exitCode === null)
      await sleep(5);
    lab.kill("SIGKILL");
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(await allEnded("killed")).toBe(0);
  });

  test("leaves no process if it is `clearway hosts`", async () => {
    const env = { ...process.env, [MARK]: "hosts" };
    const lab = spawn(process.execPath, [cli.program, "hosts"], { cwd: cli.scratch, env, stdio: "ignore" });
    const ended = once(lab, "exit");
    while (!marked("hosts").some((pid) => commandOf(pid).includes("runner-")) && lab.exitCode === null) await sleep(5);
    lab.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(await allEnded("hosts")).toBe(0);
  });

  test("leaves nothing when it is interrupted twice", async () => {
    const env = { ...process.env, ...TESTED, CLEARWAY_LAB_SCENARIOS: cli.path("scenarios"), [MARK]: "twice" };
    const args = [
      cli.program,
      "lab",
      "--profile",
      "published",
      "tiny",
      "--host",
      "chromium",
      "--rounds",
      "1",
      "--out",
      "twice",
    ];
    const lab = spawn(process.execPath, args, { cwd: cli.scratch, env, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(lab, "exit");
    lab.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("interrupted:")) lab.kill("SIGINT");
    });
    expect((await ended)[0]).toBe(130);
    expect(await allEnded("twice")).toBe(0);
  });
});
