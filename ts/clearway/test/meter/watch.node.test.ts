// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from "vitest";
import { type WatchdogData, type WatchdogMessage, watchdog } from "../../src/meter/host/node-watchdog.js";
import { mark } from "../../src/meter/mark.js";
import type { Stall } from "../../src/meter/report.js";
import { watch } from "../../src/meter/watch.js";
import { busy, pause } from "./busy.js";

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clearway-meter-"));
  await build({
    entryPoints: [here("../../src/meter.ts")],
    outfile: join(folder, "meter.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    // A user's bundler may wrap inner functions in a helper call, which the watchdog's bare source does not have.
    keepNames: true,
    minify: true,
    alias: { "#meter-host": here("../../src/meter/host/node.ts") },
    define: { hasProcesses: "true" },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a module in a new process and returns its output. */
const inProcess = async (name: string, source: string): Promise<string> => {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, `import { measure, watch } from "./meter.mjs";\n${source}`);
  return (await run(process.execPath, [file])).stdout;
};
const busySource = "const busy = (ms) => { const e = performance.now() + ms; while (performance.now() < e); };";

describe("watch() in Node", () => {
  it("reports a stall once, with its cause, after it ended", async () => {
    const told: Stall[] = [];
    const watching = watch({ floorMs: 30, onStall: (stall) => told.push(stall) });
    await watching.ready;
    const isKnown = ({ marks }: Stall): boolean => marks.some(({ label }) => label === "known");
    // Repeats until the stall is reported: a busy machine may delay the watcher as well, or add its own stalls.
    while (!told.some(isKnown)) {
      mark("known", () => busy(60));
      await pause(1);
    }
    watching.stop();
    expect(new Set(told.map(({ startMs }) => startMs)).size).toBe(told.length);
    for (const stall of told) expect(watching.report().stalls).toContainEqual(stall);
  });

  it("passes stalls to onStall on reset(), also one that still lasts", () => {
    const lengths: number[] = [];
    const watching = watch({ floorMs: 30, onStall: ({ lengthMs }) => lengths.push(lengthMs) });
    busy(60);
    watching.reset();
    const [first] = lengths;
    watching.stop();
    expect(first).toBeGreaterThanOrEqual(60);
  });

  it("may be reset by onStall, although the reset itself finds a stall", () => {
    let calls = 0;
    const watching = watch({
      onStall: () => {
        calls++;
        busy(10);
        watching.reset();
      },
    });
    busy(60);
    watching.reset();
    expect(calls).toBe(1);
    watching.stop();
  });

  it("samples stacks although another watch has a longer beat", async () => {
    const slow = watch({ beatMs: 1000 });
    const watching = watch({ floorMs: 30 });
    await watching.ready;
    while (!watching.report().stalls.some(({ stacks }) => stacks.length > 0)) {
      busy(200);
      await pause(1);
    }
    watching.stop();
    slow.stop();
  });

  it("forgets stalls on reset(), and keeps its final report after stop()", async () => {
    const watching = watch({ floorMs: 30 });
    const labels = (): string[] => watching.report().stalls.flatMap(({ marks }) => marks.map(({ label }) => label));
    while (!labels().includes("before")) {
      mark("before", () => busy(60));
      await pause(1);
    }
    watching.reset();
    await pause(1);
    watching.stop();
    const final = watching.report();
    expect(labels()).not.toContain("before");
    busy(60);
    await pause(1);
    watching.stop();
    expect(watching.report()).toBe(final);
  });

  it("stops at the end of a `using` block", async () => {
    let outside: ReturnType<typeof watch>;
    {
      using watching = watch();
      outside = watching;
      await pause(1);
    }
    const final = outside.report();
    await pause(1);
    expect(outside.report()).toBe(final);
  });

  it("does not keep a process alive", async () => {
    expect(await inProcess("idle", `watch(); console.log("end");`)).toBe("end\n");
    expect(await inProcess("ready", `await watch().ready; console.log("end");`)).toBe("end\n");
  });

  it("lets a process exit during a stall whose stack is being sampled", async () => {
    const source = `${busySource} await watch().ready; setTimeout(() => { busy(100); process.exit(0); }, 20);`;
    await inProcess("exit", source);
    expect(await run(process.execPath, [join(folder, "exit.mjs")])).toEqual({ stdout: "", stderr: "" });
  });

  it("works with an inspector that is already open", async () => {
    const source = `import inspector from "node:inspector";
      inspector.open(0, "127.0.0.1");
      const session = new inspector.Session(); session.connect(); session.post("Profiler.enable"); session.post("Profiler.start");
      ${busySource}
      let report;
      const isSampled = () => JSON.stringify(report.stalls[0].stacks).includes("held");
      do ({ report } = await measure(function held() { busy(100); })); while (!isSampled());
      console.log(report.stalls.length, isSampled());
      session.disconnect(); inspector.close();`;
    expect(await inProcess("inspected", source)).toBe("1 true\n");
  });

  it("watches a worker thread, and reports that stacks are not available there", async () => {
    const source = `import { parentPort } from "node:worker_threads"; import { measure } from "./meter.mjs";
      ${busySource}
      const { report } = await measure(() => busy(50));
      parentPort.postMessage(report);`;
    const file = join(folder, "worker.mjs");
    await writeFile(file, source);
    const worker = new Worker(file);
    const [report] = await once(worker, "message");
    await worker.terminate();
    expect(report).toMatchObject({ host: "node-worker", stalls: [{}] });
    // When the machine itself was stalled, that cause comes first. So does a collection that was delayed.
    expect(["app", "machine", "gc"]).toContain(report.stalls[0].cause);
    expect(report.sources).toContainEqual({
      name: "stacks",
      available: false,
      why: "the inspector reaches only the main thread",
    });
  });

  it("keeps a bounded number of stalls", async () => {
    const watching = watch({ floorMs: 1, stallsMax: 4 });
    for (let index = 0; watching.report().droppedStalls === 0; index++) {
      busy(2);
      await pause(index);
    }
    watching.stop();
    const report = watching.report();
    expect(report.stalls.length).toBeLessThanOrEqual(4);
    expect(report.droppedStalls).toBeGreaterThan(0);
  });
});

/** Runs a watchdog on a fake clock, in this thread. Returns the types of its messages, and the answer of the watched thread. */
function start(uptimeMs: number) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "hrtime"] });
  onTestFinished(() => void vi.useRealTimers());
  const baseNs = process.hrtime.bigint() - BigInt(uptimeMs) * 1_000_000n;
  const shared = Int32Array.of(0, 20, 0);
  const answer = (): void => {
    shared[0] = Number(process.hrtime.bigint() - baseNs) / 1e6;
  };
  answer();
  const workerData: WatchdogData = {
    shared,
    baseNs,
    tickMs: 10,
    sampleEveryMs: 10,
    samplesMax: 40,
    framesMax: 32,
  };
  const types: string[] = [];
  const parentPort = { postMessage: ({ type }: WatchdogMessage) => types.push(type) };
  class Session {
    connectToMainThread(): void {}
    post(_method: string, _parameters: object, done: (error: null, answer: object) => void): void {
      done(null, { result: { value: "Error\n    at app" } });
    }
    disconnect(): void {}
  }
  watchdog((name) => (name === "node:inspector" ? { Session } : { workerData, parentPort }));
  return { types, answer };
}

describe.each([
  ["a minute", 60_000],
  ["25 days", 2 ** 31],
  ["50 days", 2 ** 32],
])("the watchdog, after %s of uptime,", (_, uptimeMs) => {
  test("samples no stack while the thread answers", () => {
    const { types, answer } = start(uptimeMs);
    for (let turn = 0; turn < 10; turn++) {
      vi.advanceTimersByTime(10);
      answer();
    }
    expect(types).toEqual(["ready"]);
  });

  test("samples the stack of a thread that does not answer, once per interval", () => {
    const { types } = start(uptimeMs);
    vi.advanceTimersByTime(50);
    expect(types).toEqual(["ready", "stack", "stack", "stack"]);
  });
});
