// SPDX-License-Identifier: MIT OR Apache-2.0
// What a probe needs from its host, in a process of Node's that measures one thing and ends.
import { Worker } from "node:worker_threads";
import { subjects } from "../subject/node.mjs";
import { coreOf, standApart, threadsOf } from "./cores.mjs";

const isLinux = process.platform === "linux";
const threads = () => (isLinux ? threadsOf(process.pid) : []);
const atStart = new Set(threads());

export const host = {
  name: "node",
  subjects,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  /** URL of a worker's file in bench/worker. */
  workerUrl: (name) => new URL(`../worker/${name}.mjs`, import.meta.url),
  /** A worker by hand, with the same face on every host. */
  openWorker(url) {
    const worker = new Worker(url);
    return {
      post: (message) => worker.postMessage(message),
      listen: (receive) => worker.on("message", receive),
      end: () => worker.terminate(),
    };
  },
  /** Threads that came into being while something ran. */
  async newThreads(use) {
    const before = new Set(threads());
    await use();
    return threads().filter((thread) => !before.has(thread));
  },
  /** Tells whether this thread and the last of the given ones stood on one core when they last ran; null if unknown. */
  watchCores: (given) => () => (given.length === 0 ? null : coreOf(process.pid) === coreOf(given.at(-1))),
  /** This thread on one core, all threads that were started since on another. */
  standApart: () =>
    standApart(
      process.pid,
      threads().filter((thread) => !atStart.has(thread)),
    ),
  /** Share of one core that this process used while something ran, in percent. */
  async cpuOver(use) {
    const before = process.cpuUsage();
    const begin = performance.now();
    await use();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) / 1000 / (performance.now() - begin)) * 100;
  },
};
