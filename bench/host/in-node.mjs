// SPDX-License-Identifier: MIT OR Apache-2.0
// What a probe needs from its host, in a Node process that measures one thing and ends.
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
  /** Returns the URL of a worker's file in bench/worker. */
  workerUrl: (name) => new URL(`../worker/${name}.mjs`, import.meta.url),
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
  async newThreads(use) {
    const before = new Set(threads());
    await use();
    return threads().filter((thread) => !before.has(thread));
  },
  /** Returns a function that tells whether this thread and the last of the given ones last ran on one core; null if unknown. */
  watchCores: (given) => () => (given.length === 0 ? null : coreOf(process.pid) === coreOf(given.at(-1))),
  /** Pins this thread to one core, and all threads started since to another. */
  standApart: () =>
    standApart(
      process.pid,
      threads().filter((thread) => !atStart.has(thread)),
    ),
  /** Returns this process's share of one core while `use` ran, in percent. */
  async cpuOver(use) {
    const before = process.cpuUsage();
    const begin = performance.now();
    await use();
    const { user, system } = process.cpuUsage(before);
    return ((user + system) / 1000 / (performance.now() - begin)) * 100;
  },
};
