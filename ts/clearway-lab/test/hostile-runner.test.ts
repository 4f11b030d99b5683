// SPDX-License-Identifier: MIT OR Apache-2.0
// Runners that break the protocol. Each failure is a RunnerError, comes in bounded time, and leaves no process.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { CellRequest } from "../src/protocol/message.js";
import { checkedMeasurement, RunnerError } from "../src/runner/answers.js";
import { RunnerClient } from "../src/runner/client.js";
import { decodeHistogram } from "../src/statistics/distribution.js";

const program = fileURLToPath(new URL("./hostile-runner.mjs", import.meta.url));
const scratch = mkdtempSync(path.join(tmpdir(), "clearway hostile "));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const cell: CellRequest = {
  family: "isolate",
  scenario: "tiny",
  mechanism: "fast",
  params: { size: 7 },
  expected: { answer: "$size" },
};

let files = 0;

function start(how: string): { runner: RunnerClient; left: () => Promise<number[]> } {
  const pids = path.join(scratch, `pids ${files++}`);
  const env = { CLEARWAY_TEST_PIDS: pids };
  const runner = new RunnerClient({ command: process.execPath, args: [program, how], env });
  return { runner, left: () => ended([runner.pid ?? 0], pids) };
}

/**
 * Waits until the processes have ended, also those that the runner noted in the file. Returns the ones that still run. The test's own limit
 * ends a wait that takes too long: the system has no event for the end of another process's child.
 */
async function ended(pids: readonly number[], file: string): Promise<number[]> {
  const noted = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  for (;;) {
    const running = [...pids, ...noted].filter(isRunning);
    if (running.length === 0) return running;
    await sleep(5);
  }
}

function isRunning(pid: number): boolean {
  try {
    // A process that ended and was not collected by its parent is a zombie.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Returns the code and the message of the RunnerError with which a promise rejects. */
async function problem(promise: Promise<unknown>): Promise<[string, string]> {
  const error = await promise.then(
    () => new Error("it answered"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RunnerError);
  return [(error as RunnerError).code, (error as RunnerError).message];
}

describe("a runner that cannot describe itself", () => {
  test.each([
    ["silent", "silent", /did not answer in time: timeoutMs=300 op=describe/],
    ["exits at once", "ended", /the runner ended: code=3 signal=null stderr: no {2}\[31mmodule named numpy/],
    ["garbage", "not-json", /not a JSON line: "Welcome to my runner!"/],
    ["endless line", "too-long", /a line is longer than 16777216 characters; it begins with "xxxx/],
    ["closes its output", "ended", /closed its output and did not exit/],
    ["another version", "version", /speaks version 2 of the runner protocol, and this lab speaks version 1: update/],
    ["no version", "wrong-answer", /not a description: \/ must have required property 'protocol'/],
    ["no mechanisms", "wrong-answer", /not a description: \/ must have required property 'mechanisms'/],
    ["escapes", "wrong-answer", /not a description: \/runtime must match pattern/],
    ["no request", "wrong-answer", /sent an answer without a request: \{"id":101/],
    ["null", "wrong-answer", /sent an answer without a request: null/],
    ["neither", "wrong-answer", /neither "ok": true nor an error with a message/],
    ["error without a message", "wrong-answer", /neither "ok": true nor an error with a message/],
  ])("fails as %s, and leaves no process", async (how, code, message) => {
    const { runner, left } = start(how);
    const timeoutMs = how === "silent" ? 300 : 60_000;
    expect(await problem(runner.describe(timeoutMs))).toEqual([code, expect.stringMatching(message)]);
    await runner.close();
    expect(await left()).toEqual([]);
  });

  test("fails with the system's reason when its program does not exist", async () => {
    const runner = new RunnerClient({ command: "/nowhere/runner", args: [] });
    expect(await problem(runner.describe())).toEqual(["start", expect.stringMatching("ENOENT")]);
    await runner.close();
  });

  test("fails as ended when it is killed before it reads the request from its own channel", async () => {
    const runner = new RunnerClient({
      command: process.execPath,
      args: ["-e", 'process.kill(process.pid, "SIGKILL")'],
      channel: true,
    });
    expect(await problem(runner.describe())).toEqual(["ended", "the runner ended: code=null signal=SIGKILL"]);
    await runner.close();
  });

  test("fails with the shell's message when its command does not exist", async () => {
    const runner = new RunnerClient({ command: "no-such-program-anywhere", args: [], shell: true });
    expect(await problem(runner.describe())).toEqual(["ended", expect.stringMatching(/code=127 .*not found/)]);
    await runner.close();
  });
});

describe("a runner that measures wrongly", () => {
  test.each([
    ["wrong result", /the work gave a wrong result: result.answer: expected 7, got 8/],
    ["no measurement", /not a measurement: \/ must be object/],
    ["too few samples", /\/samples\/work\/raw has 3 numbers, and n=4/],
    ["no histogram", /\/samples\/work\/hdr is not an HdrHistogram/],
    ["a figure that is text", /\/values\/total\/value must be number/],
    [
      "an unknown unit",
      /\/values\/total\/unit must be equal to one of the allowed values: "parsec" is none of us, ms, ms\/s, frames/,
    ],
  ])("fails as a wrong answer: %s", async (how, message) => {
    const { runner, left } = start(how);
    expect(await problem(runner.measure(cell, 60_000))).toEqual(["wrong-answer", expect.stringMatching(message)]);
    await runner.close();
    expect(await left()).toEqual([]);
  });

  test("is killed when it never answers", async () => {
    const { runner, left } = start("never measures");
    expect((await runner.describe()).runtime).toBe("Hostile 1");
    expect(await problem(runner.measure(cell, 300))).toEqual([
      "silent",
      expect.stringMatching("timeoutMs=300 op=measure"),
    ]);
    await runner.close();
    expect(await left()).toEqual([]);
  });

  test("is killed when it does not end with its input", async () => {
    const { runner, left } = start("deaf");
    await runner.describe();
    await runner.close(50);
    expect(await left()).toEqual([]);
  });

  test("fails the next request when it answered twice", async () => {
    const { runner, left } = start("answers twice");
    await runner.measure(cell, 60_000);
    expect(await problem(runner.measure(cell, 60_000))).toEqual([
      "wrong-answer",
      expect.stringMatching("without a request"),
    ]);
    await runner.close();
    expect(await left()).toEqual([]);
  });

  test("loses the processes that it leaves behind", async () => {
    const { runner, left } = start("leaves a child");
    await runner.measure(cell, 60_000);
    await runner.close();
    expect(await left()).toEqual([]);
  });
});

describe("an answer with samples", () => {
  const answer = (sample: object) => ({
    samples: { work: { unit: "us", ...sample } },
    values: {},
    result: { answer: 7 },
    notes: [],
  });

  test("may hold the numbers alone, and gets their histogram", () => {
    const { samples } = checkedMeasurement(answer({ n: 3, raw: [1000, 2000, 3000] }), cell);
    const histogram = decodeHistogram(samples["work"]?.hdr ?? "");
    expect([histogram.totalCount, histogram.minNonZeroValue, histogram.maxValue]).toEqual([
      3,
      1000,
      expect.any(Number),
    ]);
    expect(samples["work"]?.raw).toEqual([1000, 2000, 3000]);
  });

  test("is refused when its histogram decompresses to more than a histogram can have", () => {
    const bomb = Buffer.concat([Buffer.alloc(8), deflateSync(Buffer.alloc(64 << 20))]).toString("base64");
    expect(() => checkedMeasurement(answer({ n: 3, hdr: bomb }), cell)).toThrow(/hdr is not an HdrHistogram/);
  });

  test("is refused when its histogram has another number of samples", () => {
    const { samples } = checkedMeasurement(answer({ n: 3, raw: [1000, 2000, 3000] }), cell);
    const hdr = samples["work"]?.hdr;
    expect(() => checkedMeasurement(answer({ n: 4, hdr }), cell)).toThrow("hdr has 3 samples, and n=4");
  });
});
