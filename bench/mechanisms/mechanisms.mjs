// SPDX-License-Identifier: MIT OR Apache-2.0
// One trivial task, `value * 2`, by every mechanism. Each is set up as its own documentation recommends; `settings` says
// how, and stands in the results. `start` gives `{ call(value), stop() }`.
import { Worker } from "node:worker_threads";
import { pool } from "clearway";
import { wrap } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";
import Piscina from "piscina";
import { FixedThreadPool } from "poolifier";
import Tinypool from "tinypool";
import workerpool from "workerpool";

const url = (name) => new URL(`../workers/${name}.mjs`, import.meta.url);
const path = (name) => url(name).pathname;

function bare() {
  const worker = new Worker(url("raw"));
  const waiting = new Map();
  let next = 0;
  worker.on("message", ({ id, value }) => {
    const resolve = waiting.get(id);
    waiting.delete(id);
    resolve(value);
  });
  return {
    call: (value) =>
      new Promise((resolve) => {
        waiting.set(++next, resolve);
        worker.postMessage({ id: next, value });
      }),
    stop: () => worker.terminate(),
  };
}

function clearway(threads) {
  const made = pool(url("clearway.tasks"), { size: threads });
  return { call: made.call.double, stop: () => made.close() };
}

function piscina(threads, options) {
  const made = new Piscina({
    filename: url("default-function").href,
    minThreads: threads,
    maxThreads: threads,
    ...options,
  });
  return { call: (value) => made.run(value), stop: () => made.destroy() };
}

function comlink() {
  const worker = new Worker(url("comlink"));
  const remote = wrap(nodeEndpoint(worker));
  return { call: (value) => remote.double(value), stop: () => worker.terminate() };
}

/** All mechanisms for a number of worker threads. */
export function mechanisms(threads) {
  const all = [
    { name: "clearway", role: "clearway", settings: `pool(url, { size: ${threads} })`, start: () => clearway(threads) },
    {
      name: "piscina",
      role: "peer",
      settings: `minThreads = maxThreads = ${threads}`,
      start: () => piscina(threads, {}),
    },
    {
      name: "piscina tuned",
      role: "peer",
      settings: `minThreads = maxThreads = ${threads}, concurrentTasksPerWorker 100`,
      start: () => piscina(threads, { concurrentTasksPerWorker: 100 }),
    },
    {
      name: "tinypool",
      role: "peer",
      settings: `minThreads = maxThreads = ${threads}, concurrentTasksPerWorker 100`,
      start: () => {
        const made = new Tinypool({
          filename: url("default-function").href,
          minThreads: threads,
          maxThreads: threads,
          concurrentTasksPerWorker: 100,
        });
        return { call: (value) => made.run(value), stop: () => made.destroy() };
      },
    },
    {
      name: "workerpool",
      role: "peer",
      settings: `workerType thread, minWorkers = maxWorkers = ${threads}`,
      start: () => {
        const made = workerpool.pool(path("workerpool"), {
          workerType: "thread",
          minWorkers: threads,
          maxWorkers: threads,
        });
        return { call: (value) => made.exec("double", [value]), stop: () => made.terminate() };
      },
    },
    {
      name: "poolifier",
      role: "peer",
      settings: `FixedThreadPool(${threads}), tasks queue with concurrency 100`,
      start: () => {
        const made = new FixedThreadPool(threads, path("poolifier"), {
          enableTasksQueue: true,
          tasksQueueOptions: { concurrency: 100 },
        });
        // Its destroy() sometimes never settles once nothing else keeps the process alive; a second is enough for it.
        const second = () => new Promise((resolve) => setTimeout(resolve, 1000));
        return { call: (value) => made.execute(value), stop: () => Promise.race([made.destroy(), second()]) };
      },
    },
  ];
  if (threads === 1) {
    all.unshift({ name: "postMessage", role: "reference", settings: "one worker, an id map", start: bare });
    all.push({ name: "comlink", role: "peer", settings: "one worker, node adapter", start: comlink });
  }
  return all;
}
