// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { collect, open, probes, suite } from "./fixtures/probe.js";

const program = fileURLToPath(new URL("./fixtures/thread.mjs", import.meta.url));
const thread = (what: string): Worker => new Worker(program, { workerData: { path: probes.whole.path, what } });

const said = (worker: Worker): Promise<unknown> =>
  new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
const gone = (worker: Worker): Promise<number> => new Promise((resolve) => worker.once("exit", resolve));

function child(...args: string[]): Promise<{ code: number | null; signal: string | null; out: string }> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, out })));
}
const run = (what: string): ReturnType<typeof child> => child(program, probes.whole.path, what);

suite("JavaScript threads", () => {
  test("use separate openings of a plugin at once, and end while they are open", async () => {
    await using plugin = await open();
    const workers = Array.from({ length: 4 }, () => thread("calls"));
    const ends = workers.map(gone);
    expect(await Promise.all(workers.map(said))).toEqual([true, true, true, true]);
    expect(await Promise.all(ends)).toEqual([0, 0, 0, 0]);
    expect(plugin.channel("null").call().bytes).toBe(null);
  });

  test("that are terminated with work in flight leave the plugin usable and free their memory", async () => {
    await using plugin = await open();
    await collect(() => true);
    const before = plugin.stats().native["slabsLive"] ?? 0;
    for (let round = 0; round < 5; round++) {
      const worker = thread("busy");
      expect(await said(worker)).toBe("busy");
      await worker.terminate();
      expect((await plugin.channel("pool/null").send()).bytes).toBe(null);
    }
    await collect(() => (plugin.stats().native["slabsLive"] ?? 0) <= before);
  });
});

suite("the addon", () => {
  // The system unloads what nothing uses any more when it unloads something else, here a library that is no addon.
  test.runIf(process.platform === "linux")(
    "stays loaded after the only thread that has loaded it has ended",
    async () => {
      const code = `
      const { Worker } = require("node:worker_threads");
      const [program, path, other, addon] = process.argv.slice(1);
      const isLoaded = () => require("node:fs").readFileSync("/proc/self/maps", "utf8").includes(addon);
      const before = isLoaded();
      new Worker(program, { workerData: { path, what: "calls" } }).once("exit", () => {
        try { process.dlopen({ exports: {} }, other); } catch (error) { console.log(before, isLoaded()); }
      });`;
      const addon = basename(process.env["CLEARWAY_NATIVE_ADDON"] ?? "");
      const { out } = await child("-e", code, program, probes.whole.path, probes.none.path, addon);
      expect(out).toBe("false true\n");
    },
  );
});

suite("a process", () => {
  test("waits for calls in flight and then ends while a plugin is open", async () => {
    expect(await run("wait")).toEqual({ code: 0, signal: null, out: "answered\n" });
    expect(await run("calls")).toEqual({ code: 0, signal: null, out: "true\n" });
  });

  test("ends after refused calls and listeners", async () => {
    expect(await run("refused")).toEqual({ code: 0, signal: null, out: "released,released,released\n" });
  });

  test("keeps its exit code when it exits with calls and events in flight", async () => {
    expect(await run("exit")).toMatchObject({ code: 7, signal: null });
    expect(await run("uncaught")).toMatchObject({ code: 1, signal: null });
  });
});
