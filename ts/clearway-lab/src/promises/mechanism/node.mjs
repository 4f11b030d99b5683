// SPDX-License-Identifier: MIT OR Apache-2.0
// One trivial task, `value * 2`, with every mechanism in Node. Each mechanism is configured as its documentation recommends for many
// small tasks. `settings` describes the configuration in the results. `start` returns `{ call(value), stop() }`.
import { Worker } from "node:worker_threads";
import { wrap } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";
import Piscina from "piscina";
import { FixedThreadPool } from "poolifier";
import Tinypool from "tinypool";
import workerpool from "workerpool";
import { versionOf } from "../../machine/facts.ts";
import { bare } from "./bare.mjs";
import { clearways } from "./clearway.mjs";

const url = (name) => new URL(`./promises-worker-${name}.js`, import.meta.url);

function postMessage() {
  const worker = new Worker(url("raw"));
  return bare({
    send: (message) => worker.postMessage(message),
    listen: (receive) => worker.on("message", receive),
    stop: () => worker.terminate(),
  });
}

function piscina(threads, options) {
  const filename = url("default-function").href;
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, ...options });
  return { call: (value) => pool.run(value), stop: () => pool.destroy() };
}

function tinypool(threads, options) {
  const filename = url("default-function").href;
  const pool = new Tinypool({ filename, minThreads: threads, maxThreads: threads, ...options });
  return { call: (value) => pool.run(value), stop: () => pool.destroy() };
}

function workerPool(threads) {
  const pool = workerpool.pool(url("workerpool").pathname, {
    workerType: "thread",
    minWorkers: threads,
    maxWorkers: threads,
  });
  return { call: (value) => pool.exec("double", [value]), stop: () => pool.terminate() };
}

function poolifier(threads) {
  const pool = new FixedThreadPool(threads, url("poolifier").pathname, {
    enableTasksQueue: true,
    tasksQueueOptions: { concurrency: 100 },
  });
  // poolifier's destroy() sometimes never settles if nothing else keeps the process alive. The pool needs less than one second to end.
  const oneSecond = () => new Promise((resolve) => setTimeout(resolve, 1000));
  return { call: (value) => pool.execute(value), stop: () => Promise.race([pool.destroy(), oneSecond()]) };
}

function comlink() {
  const worker = new Worker(url("comlink"));
  const remote = wrap(nodeEndpoint(worker));
  return { call: (value) => remote.double(value), stop: () => worker.terminate() };
}

async function capnweb() {
  const { newMessagePortRpcSession } = await import("capnweb");
  const worker = new Worker(url("capnweb"));
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2]);
  const stub = newMessagePortRpcSession(port1);
  return { call: async (value) => stub.double(value), stop: () => worker.terminate() };
}

async function osra() {
  const { expose } = await import("osra");
  const worker = new Worker(url("osra"));
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2]);
  const remote = await expose({}, { transport: port1 });
  return { call: (value) => remote.double(value), stop: () => worker.terminate() };
}

const osraProblem =
  typeof WebSocket === "undefined"
    ? `osra ${versionOf("osra")} needs a global WebSocket, which this Node (${process.version}) does not have: use Node 22 or newer`
    : undefined;

/** Returns all mechanisms for a number of worker threads. Mechanisms without a pool exist for one thread only. */
export function mechanisms(threads) {
  const threadSettings = `minThreads = maxThreads = ${threads}`;
  const singleWorker = [
    { name: "postMessage", role: "reference", settings: "one worker, an id map", start: postMessage },
    { name: "comlink", role: "peer", settings: "one worker, node adapter", start: comlink },
    { name: "capnweb", role: "peer", settings: "newMessagePortRpcSession over a channel of its own", start: capnweb },
    {
      name: "osra",
      role: "peer",
      settings: "expose over a channel of its own",
      start: osra,
      ...(osraProblem === undefined ? {} : { unavailable: osraProblem }),
    },
  ];
  return [
    ...clearways(url("clearway.tasks"), threads),
    { name: "piscina", role: "peer", settings: threadSettings, start: () => piscina(threads, {}) },
    {
      name: "piscina tuned",
      role: "peer",
      settings: `${threadSettings}, concurrentTasksPerWorker 100, recordTiming false`,
      start: () => piscina(threads, { concurrentTasksPerWorker: 100, recordTiming: false }),
    },
    {
      name: "tinypool",
      role: "peer",
      settings: `${threadSettings}, concurrentTasksPerWorker 100`,
      start: () => tinypool(threads, { concurrentTasksPerWorker: 100 }),
    },
    {
      name: "workerpool",
      role: "peer",
      settings: `workerType thread, minWorkers = maxWorkers = ${threads}`,
      start: () => workerPool(threads),
    },
    {
      name: "poolifier",
      role: "peer",
      settings: `FixedThreadPool(${threads}), tasks queue with concurrency 100`,
      start: () => poolifier(threads),
    },
    ...(threads === 1 ? singleWorker : []),
  ];
}
