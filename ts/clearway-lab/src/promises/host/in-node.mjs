// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that a probe needs of its host, for a Node process that runs one measurement and ends.
import { Worker } from "node:worker_threads";
import { coreOf, pinToTwoCores, threadsOf } from "../../machine/cores.ts";
import { mechanisms } from "../mechanism/node.mjs";

const isLinux = process.platform === "linux";
const threadIds = () => (isLinux ? threadsOf(process.pid) : []);
const threadsAtStart = new Set(threadIds());

const host = {
  name: "node",
  mechanisms,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  /** Returns the URL of a worker's built file. */
  workerUrl: (name) => new URL(`./promises-worker-${name}.js`, import.meta.url),
  /** Starts a bare worker, with the same interface on every host. */
  openWorker(url) {
    const worker = new Worker(url);
    return {
      post: (message) => worker.postMessage(message),
      listen: (receive) => worker.on("message", receive),
      end: () => worker.terminate(),
    };
  },
  /** Returns the threads that started while `use` ran. */
  async threadsStartedBy(use) {
    const before = new Set(threadIds());
    await use();
    return threadIds().filter((thread) => !before.has(thread));
  },
  /** Returns a function that reports whether this thread and the last given thread last ran on one core, or null if unknown. */
  watchCores: (threads) => () => (threads.length === 0 ? null : coreOf(process.pid) === coreOf(threads.at(-1))),
  /** Pins this thread to one core, and all threads that started after this module was loaded to another core. */
  pinToTwoCores: () =>
    pinToTwoCores(
      process.pid,
      threadIds().filter((thread) => !threadsAtStart.has(thread)),
    ),
  /** Returns this process's share of one core while `use` ran, in percent. */
  async cpuPercentOf(use) {
    const before = process.cpuUsage();
    const begin = performance.now();
    await use();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) / 1000 / (performance.now() - begin)) * 100;
  },
};

const probes = {
  call: async () => (await import("../probe/call.mjs")).call,
  channel: async () => (await import("../probe/channel.mjs")).channel,
  codec: async () => (await import("../probe/codec.mjs")).codec,
  firehose: async () => (await import("../probe/firehose.mjs")).firehose,
  flight: async () => (await import("../probe/flight.mjs")).flight,
  frames: async () => (await import("../probe/frames.mjs")).frames,
  idle: async () => (await import("../probe/idle.mjs")).idle,
  list: async () => (await import("../probe/list.mjs")).list,
  native: async () => (await import("../probe/native.mjs")).native,
  remote: async () => (await import("../probe/remote.mjs")).remote,
  scan: async () => (await import("../probe/scan.mjs")).scan,
  start: async () => (await import("../probe/start.mjs")).start,
  stream: async () => (await import("../probe/stream.mjs")).stream,
  "stream-values": async () => (await import("../probe/stream-values.mjs")).streamValues,
  students: async () => (await import("../probe/students.mjs")).students,
};

/** Runs a probe in this process. Rejects with a RangeError if there is no such probe. */
export async function probe(name, params) {
  const load = probes[name];
  if (load === undefined) throw new RangeError(`no such probe: probe=${name} (${Object.keys(probes).join(", ")})`);
  return (await load())(params, host);
}
