// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that the threads of a runner get the cores that a comparison asks for. The system reports the cores of each thread.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allowedCores, threadsOf } from "../src/machine/cores.js";
import { keepOnTwoCores, oneCoreCommand, runnerPinningProblem } from "../src/machine/thread-pin.js";

const STARTS_A_WORKER = `
  process.stdin.once("data", () => {
    new (require("node:worker_threads").Worker)("setInterval(() => {}, 1e6)", { eval: true }).on("online", () => {
      console.log("online");
    });
  });
  console.log("ready");`;

/** Starts a process that starts a worker when it receives a line. */
async function started(prefix: readonly string[] = []): Promise<{ child: ChildProcess; pid: number }> {
  const [command = "", ...args] = [...prefix, process.execPath, "-e", STARTS_A_WORKER];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout!, "data");
  return { child, pid: child.pid! };
}

async function startWorker(child: ChildProcess): Promise<void> {
  child.stdin!.write("\n");
  await once(child.stdout!, "data");
}

const coresOf = (pid: number, thread: number) =>
  /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8"))?.[1];
const pinnedTo = (pid: number) => ({
  main: coresOf(pid, pid),
  others: new Set(
    threadsOf(pid)
      .filter((thread) => thread !== pid)
      .map((thread) => coresOf(pid, thread)),
  ),
});

describe.skipIf(runnerPinningProblem() !== undefined)("a pinned runner", () => {
  const [first, second] = allowedCores().map(String);

  test("has all its threads on one core", async () => {
    const { child, pid } = await started(oneCoreCommand());
    await startWorker(child);
    expect(pinnedTo(pid)).toEqual({ main: first, others: new Set([first]) });
    child.kill("SIGKILL");
  });

  test("has its main thread on one core and the others on a second, also the ones that start later", async () => {
    const { child, pid } = await started();
    const unpin = keepOnTwoCores(pid);
    await expect.poll(() => pinnedTo(pid)).toEqual({ main: first, others: new Set([second]) });
    await startWorker(child);
    await expect.poll(() => pinnedTo(pid)).toEqual({ main: first, others: new Set([second]) });
    unpin();
    child.kill("SIGKILL");
  });

  test("may end while it is pinned", async () => {
    const { child, pid } = await started();
    const unpin = keepOnTwoCores(pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    unpin();
  });
});
