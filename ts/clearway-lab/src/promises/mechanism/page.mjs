// SPDX-License-Identifier: MIT OR Apache-2.0
// The same task with every mechanism that runs in a page. Workers are module workers in files next to the page's script.
import { newMessagePortRpcSession } from "capnweb";
import { wrap } from "comlink";
import { expose } from "osra";
import workerpool from "workerpool";
import { bare } from "./bare.mjs";
import { clearways } from "./clearway.mjs";

const url = (name) => new URL(`./promises-worker-${name}.js`, import.meta.url);
const open = (name) => new Worker(url(name), { type: "module" });

function postMessage() {
  const worker = open("raw");
  return bare({
    send: (message) => worker.postMessage(message),
    listen: (receive) => worker.addEventListener("message", ({ data }) => receive(data)),
    stop: () => worker.terminate(),
  });
}

function comlink() {
  const worker = open("comlink");
  const remote = wrap(worker);
  return { call: (value) => remote.double(value), stop: () => worker.terminate() };
}

function capnweb() {
  const worker = open("capnweb");
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(port2, [port2]);
  const stub = newMessagePortRpcSession(port1);
  return { call: async (value) => stub.double(value), stop: () => worker.terminate() };
}

async function osra() {
  const worker = open("osra");
  const remote = await expose({}, { transport: worker });
  return { call: (value) => remote.double(value), stop: () => worker.terminate() };
}

function workerPool(threads) {
  const pool = workerpool.pool(url("workerpool").href, {
    workerType: "web",
    minWorkers: threads,
    maxWorkers: threads,
    workerOpts: { type: "module" },
  });
  return { call: (value) => pool.exec("double", [value]), stop: () => pool.terminate() };
}

const nodeOnly = ["piscina", "piscina tuned", "tinypool", "poolifier"].map((name) => ({
  name,
  role: "peer",
  settings: "",
  unavailable: "it needs worker_threads and runs in Node only",
}));

/** Returns all mechanisms for a number of worker threads. Mechanisms without a pool exist for one thread only. */
export function mechanisms(threads) {
  const singleWorker = [
    { name: "postMessage", role: "reference", settings: "one worker, an id map", start: postMessage },
    { name: "comlink", role: "peer", settings: "one worker", start: comlink },
    { name: "capnweb", role: "peer", settings: "newMessagePortRpcSession over a channel of its own", start: capnweb },
    { name: "osra", role: "peer", settings: "expose with the worker as transport", start: osra },
    ...nodeOnly,
  ];
  return [
    ...clearways(url("clearway.tasks"), threads),
    {
      name: "workerpool",
      role: "peer",
      settings: `workerType web, minWorkers = maxWorkers = ${threads}`,
      start: () => workerPool(threads),
    },
    ...(threads === 1 ? singleWorker : []),
  ];
}
