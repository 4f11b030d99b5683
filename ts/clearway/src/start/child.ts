// SPDX-License-Identifier: MIT OR Apache-2.0
// The file `child.mjs`: a worker that is a child process starts with it. Connects to the pool, then imports the task module.

import { createRequire, syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { withoutUncopied } from "../error/wire.js";
import { OwnPromise, setImmediate } from "../globals.js";
import type { OnMessage, ParentEndpoint } from "../host/host.js";
import { printed } from "../host/node/output.js";
import {
  decodeMessage,
  type Envelope,
  encodeMessage,
  lifePipe,
  ProcessMessage,
  type ProcessOrders,
  parentKey,
  postCopy,
} from "../host/node/process-messages.js";
import type { StartOrders } from "../host/node/task-module.js";
import { encodeThrown } from "../transfer/thrown.js";
import { loadTaskModule } from "./load.js";

let heard: OnMessage | undefined;
let unreadable: (() => void) | undefined;
/** Messages that arrived before the task module called `expose()`. */
const early: unknown[] = [];
/** Whether an uncaught error ends this process. It runs nothing more that the pool sends. */
let dying = false;

// A task may replace the function.
const toParent = process.send?.bind(process);

// Calls `sent` when the message was written, or cannot be written any more.
function send(message: Envelope, sent: () => void = () => {}): void {
  if (process.connected) toParent?.(message, undefined, undefined, sent);
  else sent();
}

function received(message: unknown): void {
  if (dying) return;
  let decoded: ReturnType<typeof decodeMessage>;
  try {
    decoded = decodeMessage(message);
  } catch {
    return unreadable?.();
  }
  const [kind, content] = decoded ?? [];
  if (kind === ProcessMessage.Start) begin(content as ProcessOrders);
  else if (kind === ProcessMessage.Flush) {
    void (printed() ?? OwnPromise.resolve()).then(() => send(encodeMessage(ProcessMessage.Flush, undefined)));
  } else if (kind === ProcessMessage.Posted) heard ? heard(content) : early.push(content);
}

function begin({ url, start, name, greeting, workerData }: ProcessOrders): void {
  // A module that does not call `expose()` ends with its own work, as in a thread.
  process.channel?.unref();
  process.title = name;
  if (url.startsWith("file:")) process.argv[1] = fileURLToPath(url);
  if (workerData !== undefined) {
    (createRequire(import.meta.url)("node:worker_threads") as { workerData: unknown }).workerData = workerData;
    syncBuiltinESMExports();
  }
  const endpoint: ParentEndpoint = {
    marked: true,
    greeting,
    post: (message, transfer) => postCopy(send, message, transfer),
    listen: (listener) => {
      process.channel?.ref();
      unreadable = () => listener.unreadable();
      // A thread's messages, too, arrive in a later turn. The worker greets its pool before.
      setImmediate(() => {
        heard = (message) => listener.message(message);
        watchParent();
        for (const message of early.splice(0)) listener.message(message);
      });
    },
    onEnding: (last) => process.once("exit", last),
    ignore: () => {},
    printed,
    holdLifeline: () => {},
  };
  Object.defineProperty(globalThis, parentKey, { value: endpoint });
  const loaded: Promise<unknown> = start ? loadTaskModule(start as StartOrders) : import(url);
  // Thrown outside of the promise, because an app may configure that Node ignores unhandled rejections.
  loaded.catch((reason) => {
    setImmediate(() => {
      throw reason;
    });
  });
}

// Reports the error, and ends this process when everything that it has sent before is on its way.
function uncaught(reason: unknown): void {
  // The task module has its own listener, which handles the error.
  if (process.listenerCount("uncaughtException") > 1 || dying) return;
  dying = true;
  const wire = withoutUncopied(encodeThrown(reason), (each) => encodeMessage(ProcessMessage.Uncaught, each));
  send(encodeMessage(ProcessMessage.Uncaught, wire), () => process.exit(1));
}

// Ends this process when its pool's thread is gone, even if a task blocks this thread. A process that is killed cannot end its children, and
// neither can a thread. The pool's thread holds the other end of a pipe, which the system closes then. Called when the worker has greeted its
// pool and before it runs a call, because starting the thread would delay the import of the task module.
function watchParent(): void {
  const code = `const pipe = new (require("node:net").Socket)({ fd: ${lifePipe} });
    pipe.on("error", () => {}).on("close", () => process.kill(process.pid, "SIGKILL")).resume();`;
  try {
    const watch = new Worker(code, { eval: true, execArgv: [], stdout: true, stderr: true });
    watch.unref();
    watch.on("error", () => {});
  } catch {
    // Node's permissions may forbid threads. This process then ends when it no longer blocks.
  }
}

process.on("message", received);
process.on("disconnect", () => process.exit());
process.on("uncaughtException", uncaught);
// A terminal, systemd and a container's supervisor send these signals to all processes of an app. The pool ends its workers when the app is
// ready for that, as it ends threads. An app that ends closes the pipe of `watchParent`, so that no worker outlives it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
  try {
    process.on(signal, () => {});
  } catch {
    // Windows has no SIGQUIT.
  }
}
