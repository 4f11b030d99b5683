// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lab reads from the machine and asks of it: the cores of threads, the load of other programs, caches and huge pages.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  allowedCores,
  familyMs,
  keepOnTwoCores,
  type LoadSource,
  oneCoreCommand,
  otherCores,
  otherShare,
  pinningProblem,
  threadsOf,
  watchCores,
} from "../src/machine/cores.js";
import { hugePagesOf } from "../src/machine/facts.js";
import { cacheSizes } from "../src/memory/peers.js";

// The threads of a runner get the cores that a comparison asks for. The system reports the cores of each thread.

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

/** The text of /proc/PID/stat of a process with this parent, name, own time and time of its ended children, in ticks. */
const stat = (pid: number, parent: number, name: string, [user, system, ended, endedSystem]: number[]) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 100 0 0 0 ${user} ${system} ${ended} ${endedSystem} 20 0 1 0 500 1 1`;

describe("the share of the cores that other programs used", () => {
  const LAB = 10;
  const processes = [
    stat(1, 0, "init", [900, 0, 0, 0]),
    stat(LAB, 1, "node", [5, 1, 0, 0]),
    stat(11, LAB, "node", [20, 0, 3, 1]),
    stat(12, 11, "nats-server", [7, 2, 0, 0]),
    stat(13, 1, "nats-server", [400, 0, 0, 0]),
  ];

  test("leaves out the lab, its arms, and the servers that an arm started, but not another one's", () => {
    expect(familyMs(processes, LAB)).toBe((6 + 24 + 9) * 10);
  });

  test("leaves out children that have ended", () => {
    const before = familyMs(processes, LAB);
    const after = [...processes.slice(0, 2), stat(11, LAB, "node", [20, 0, 3 + 7, 1 + 2])];
    expect(familyMs(after, LAB)).toBe(before);
  });

  test("reads processes whose names have spaces and brackets", () => {
    expect(familyMs([stat(LAB, 1, "a) R 1 (b", [1, 2, 3, 4])], LAB)).toBe(100);
  });

  test("is what is left of the cores' time", () => {
    const reading = { busyMs: 1000, ownMs: 300, nowMs: 0, cores: 2 };
    expect(otherShare(reading, { busyMs: 1800, ownMs: 700, nowMs: 1000, cores: 2 })).toBe(0.2);
    expect(otherShare(reading, { busyMs: 1010, ownMs: 320, nowMs: 1000, cores: 2 })).toBe(0);
    expect(otherShare(reading, undefined)).toBeUndefined();
  });
});

/** A machine whose other programs use `cores` of its cores, and whose rests take `lateMs` longer than asked. */
function machine(cores: number, lateMs = 0): LoadSource {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    busyMs: () => cores * nowMs,
    rest: async (ms) => {
      nowMs += ms + lateMs;
    },
  };
}

test("the load of other programs is the mean number of cores that they use during a rest, however late it ends", async () => {
  expect(await otherCores(machine(1.254, 50))).toBe(1.25);
});

test("the load of other programs is not negative when the machine's counters go back", async () => {
  expect(await otherCores(machine(-1))).toBe(0);
});

const folder = mkdtempSync(path.join(tmpdir(), "clearway-caches-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(index: string, files: Record<string, string>): void {
  mkdirSync(path.join(folder, index));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, index, name), `${text}\n`);
}

describe("the sizes of the caches", () => {
  test("are those for data, by level; what cannot be read is left out", () => {
    write("index0", { level: "1", type: "Data", size: "48K" });
    write("index1", { level: "1", type: "Instruction", size: "32K" });
    write("index2", { level: "2", type: "Unified", size: "2M" });
    write("index3", { level: "3", type: "Unified" });
    write("index4", { level: "4", type: "Unified", size: "much" });
    write("uevent", {});
    expect(cacheSizes(folder)).toEqual({
      l1Cache: { unit: "bytes", value: 49_152 },
      l2Cache: { unit: "bytes", value: 2_097_152 },
    });
  });

  test("are none where the kernel reports none", () => {
    expect(cacheSizes(path.join(folder, "missing"))).toEqual({});
  });
});

describe("the setting of transparent huge pages", () => {
  test.each([
    ["always [madvise] never\n", "madvise"],
    ["[always] madvise never\n", "always"],
    ["always madvise [never]\n", "never"],
    ["always madvise never\n", undefined],
    ["[sometimes]", undefined],
    ["", undefined],
  ])("of %j is %s", (file, expected) => {
    expect(hugePagesOf(file)).toBe(expected);
  });
});
