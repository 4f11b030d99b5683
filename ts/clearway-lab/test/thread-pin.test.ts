// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that the threads of a runner get the cores that a comparison asks for. The system reports the cores of each thread.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  allowedCores,
  keepOnTwoCores,
  oneCoreCommand,
  pinningProblem,
  threadsOf,
  watchCores,
} from "../src/machine/cores.js";

/** The first line starts a worker. At the second, the worker computes until the process has used its processors for 50 ms. */
const STARTS_A_WORKER = `
  const burns = \`require("node:worker_threads").parentPort.on("message", () => {
    const from = process.cpuUsage().user;
    while (process.cpuUsage().user - from < 5e4);
    console.log("burnt");
  })\`;
  process.stdin.once("data", () => {
    const worker = new (require("node:worker_threads").Worker)(burns, { eval: true });
    worker.on("online", () => console.log("online"));
    process.stdin.on("data", () => worker.postMessage(1));
  });
  console.log("ready");`;

/** Starts a process that starts a worker when it receives a line. */
async function started(prefix: readonly string[] = []): Promise<{ child: ChildProcess; pid: number }> {
  const [command = "", ...args] = [...prefix, process.execPath, "-e", STARTS_A_WORKER];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout!, "data");
  return { child, pid: child.pid! };
}

/** Starts the worker, or makes it compute. */
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

describe.skipIf(pinningProblem() !== undefined)("a pinned runner", () => {
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

describe.skipIf(pinningProblem() !== undefined)("the share of the time on one core", () => {
  test("is 100 % with all threads on one core, and 0 % with the worker on a core of its own", async () => {
    const together = await started(oneCoreCommand());
    await startWorker(together.child);
    const endTogether = watchCores(together.pid);
    await startWorker(together.child);
    expect(endTogether()).toBe(100);
    together.child.kill("SIGKILL");

    const apart = await started();
    const unpin = keepOnTwoCores(apart.pid);
    const [first, second] = allowedCores().map(String);
    await startWorker(apart.child);
    await expect.poll(() => pinnedTo(apart.pid)).toEqual({ main: first, others: new Set([second]) });
    // Both threads run once where they are pinned, before the samples begin.
    await startWorker(apart.child);
    const endApart = watchCores(apart.pid);
    await startWorker(apart.child);
    expect(endApart()).toBe(0);
    unpin();
    apart.child.kill("SIGKILL");
  });

  test("is unknown for a process that has ended", async () => {
    const { child, pid } = await started();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(watchCores(pid)()).toBeUndefined();
  });
});
