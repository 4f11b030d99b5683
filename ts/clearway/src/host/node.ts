// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import * as threads from "node:worker_threads";
import { abortOf, reasonOf } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { OwnPromise, queueMicrotask, setImmediate, setTimeout, type Timer, unref } from "../globals.js";
import type { ParentEndpoint, SpawnOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { explainError, explainExit, withoutFrames } from "./node/errors.js";
import { workerOptions } from "./node/options.js";
import { pipeOutput, printed } from "./node/output.js";
import { type Referenced, type Release, spawnProcess } from "./node/process.js";
import { parentKey } from "./node/process-messages.js";
import { ordersKey, type Start, startOf } from "./node/task-module.js";

export { checkProcesses, refuseFactory, threadRules } from "./node/options.js";
export { hasHiddenSlots, structureOf } from "./node/process-messages.js";
export { shownSource } from "./node/task-module.js";
export { isTransferable, isUntransferable, losesMoved, mayLoseOthers, refuseDetached } from "./node/transferable.js";

const mark = "clearway:worker";

// Message that asks a worker to send all of its printed output. The worker answers with the same message. Clearway's own frames are arrays,
// so this text cannot be mistaken for a frame.
const flushMessage = "clearway:flush";

/** Returns the number of threads that the machine can run at once. */
export function cores(): number {
  return availableParallelism();
}

/** The single listener of a signal, shared by all subscribers. */
interface SharedListener {
  readonly acts: Set<(reason: unknown) => void>;
  readonly abort: () => void;
}

const listeners = new WeakMap<AbortSignal, SharedListener>();

/**
 * Calls `act` with the reason when the signal aborts, or at once if the signal has aborted already. Returns a function that unsubscribes.
 *
 * Never throws. A signal that throws counts as aborted. Adds only one listener to each signal. Hundreds of calls may share a signal, and
 * Node warns when a signal has more than ten listeners.
 */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const aborted = abortOf(signal);
  if (aborted) {
    act(aborted.reason);
    return () => {};
  }
  let shared = listeners.get(signal);
  if (shared) shared.acts.add(act);
  else shared = listenOnce(signal, act);
  const { acts, abort } = shared;
  return () => {
    if (!acts.delete(act) || acts.size > 0 || listeners.get(signal) !== shared) return;
    listeners.delete(signal);
    try {
      signal.removeEventListener("abort", abort);
    } catch {
      // An event that still arrives finds no subscriber.
    }
  };
}

function listenOnce(signal: AbortSignal, act: (reason: unknown) => void): SharedListener {
  const acts = new Set([act]);
  const notify = (reason: unknown): void => {
    if (listeners.get(signal) === shared) listeners.delete(signal);
    for (const each of acts) {
      acts.delete(each);
      each(reason);
    }
  };
  const shared: SharedListener = { acts, abort: () => notify(reasonOf(signal)) };
  try {
    listeners.set(signal, shared);
    signal.addEventListener("abort", shared.abort, { once: true });
  } catch (reason) {
    notify(reason);
  }
  return shared;
}

/** Returns the function bound to the current async context (`AsyncLocalStorage`). */
export function inContext<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  return AsyncResource.bind(act);
}

/** Whether this thread is a worker that runs as a child process. */
export const inProcess = /* @__PURE__ */ Object.hasOwn(globalThis, parentKey);

/**
 * Starts a worker from the URL of its module and returns at once. If the module fails to load, calls `events.error`. If the worker ends
 * without a message, `events.exit` receives an explanation.
 */
export function spawn(source: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  const { settings, greeting, name } = options;
  const start = startOf(source, settings);
  if (settings.processes) return spawnProcess(start, options, events, (worker) => new KeepAlive(worker));
  // `workerData` has the greeting, unless it belongs to the app. The pool then sends the greeting as a message.
  const greeted = settings.workerData === undefined;
  const worker = newWorker(start, {
    ...workerOptions(settings),
    ...(greeted && { workerData: { [mark]: greeting } }),
    name,
  });
  pipeOutput(worker, settings);
  let heard = false;
  worker.once("message", () => {
    heard = true;
  });
  const handle = adopt(worker, {
    ...events,
    error: (reason) => {
      if (heard) return events.error(reason);
      const what = explainError(reason, start);
      withoutFrames(() => events.error(reason, what));
    },
    exit: (code) => {
      if (heard) return events.exit(code);
      const what = explainExit(start);
      withoutFrames(() => events.exit(code, what));
    },
  });
  return greeted ? { ...handle, greeted } : handle;
}

function newWorker({ entry, orders }: Start, options: threads.WorkerOptions): threads.Worker {
  if (!orders) return new threads.Worker(entry, options);
  // Node copies the environment data when it makes the worker. Later workers of other code must not receive it.
  threads.setEnvironmentData(ordersKey, orders as unknown as threads.Serializable);
  try {
    return new threads.Worker(entry, options);
  } finally {
    threads.setEnvironmentData(ordersKey, undefined);
  }
}

// Workers that a pool has taken over. If two pools, or two places of one pool, shared a worker, each would read the other's results.
const adopted = /* @__PURE__ */ new WeakSet<object>();

/** Takes over a worker that a factory made. Throws `invalid-argument` for any other value, and for a worker that was taken over before. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (!(worker instanceof threads.Worker) || adopted.has(worker)) {
    throw new ClearwayError(
      "invalid-argument",
      "the factory must return a new worker_threads Worker (to run a function, expose() it in a task module)",
    );
  }
  adopted.add(worker);
  let gone = false;
  // The worker's uncaught error. Node delivers errors over a separate connection, so an error may arrive before the worker's last messages.
  // When Node reports the exit, all messages have arrived.
  let uncaught: { reason: unknown } | undefined;
  const exited = new OwnPromise<unknown>((resolve) => {
    const exit = (code?: number): void => {
      if (gone) return;
      gone = true;
      release.end();
      worker.removeAllListeners();
      if (uncaught) events.error(uncaught.reason);
      events.exit(code);
      // The worker's last output has arrived in this process, but may not be written yet.
      const unread = [worker.stdout, worker.stderr].filter((each) => each.readableFlowing && each.readableLength > 0);
      resolve(OwnPromise.all(unread.map((each) => once(each, "close"))));
    };
    // A worker that has already ended emits no more events.
    if (worker.threadId < 0) queueMicrotask(exit);
    else worker.once("exit", exit);
  });
  let ending: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    if (!gone) endThread(worker);
    await exited;
  };
  const release = new KeepAlive({
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    flush: () => worker.postMessage(flushMessage),
  });
  for (const stream of [worker.stdout, worker.stderr]) {
    // If the app reads this stream itself, the app is responsible for the output.
    if (!stream.readableFlowing) continue;
    stream.on("data", () => release.printed());
  }
  const listeners = {
    message: (message: unknown) => {
      if (message === flushMessage) release.flushed();
      else events.message(message);
    },
    messageerror: () => events.messageError(true),
    error: (reason: unknown) => {
      uncaught = { reason };
    },
  };
  for (const [event, listener] of Object.entries(listeners)) worker.on(event, listener);
  return {
    post: (message, transfer) => worker.postMessage(message, transfer as threads.TransferListItem[]),
    abandon: () => {
      gone = true;
      release.end();
      // The listeners of other code stay: the app may wait for the thread's end.
      for (const [event, listener] of Object.entries(listeners)) worker.off(event, listener);
      worker.on("error", () => {});
      worker.unref();
    },
    // Calls Node's `terminate` only once: each call adds a listener that stays until the thread has ended.
    terminate: () => {
      ending ??= end();
      return ending;
    },
    setRef: (on) => release.setRef(on),
  };
}

// Ends a worker's thread. A factory's worker may have its own `terminate()`, which may throw, reject, or not end the thread. Node's
// `terminate` is therefore called in any case.
function endThread(worker: threads.Worker): void {
  const { terminate } = threads.Worker.prototype;
  try {
    if (worker.terminate !== terminate) OwnPromise.resolve(worker.terminate()).catch(() => {});
  } catch {
    // Node's `terminate` follows.
  }
  void terminate.call(worker);
}

/** Returns the connection to the thread that started this worker. Returns undefined on a main thread that is no worker. */
export function parent(): ParentEndpoint | undefined {
  if (inProcess) return (globalThis as { [parentKey]?: ParentEndpoint })[parentKey];
  const port = threads.parentPort;
  if (threads.isMainThread || port === null) return undefined;
  let heard: ((message: unknown) => void) | undefined;
  let failed: (() => void) | undefined;
  const marked = typeof threads.workerData === "object" && threads.workerData !== null && mark in threads.workerData;
  // A task may replace the methods of all ports.
  const post = port.postMessage.bind(port);
  return {
    marked,
    greeting: marked ? threads.workerData[mark] : undefined,
    post: (message, transfer) => post(message, transfer as threads.TransferListItem[]),
    listen: (listener) => {
      heard = (message) => {
        if (message !== flushMessage) return listener.message(message);
        void (printed() ?? OwnPromise.resolve()).then(() => post(flushMessage));
      };
      failed = () => listener.unreadable();
      port.on("message", heard);
      port.on("messageerror", failed);
    },
    onEnding: (last) => process.once("exit", last),
    ignore: () => {
      if (heard) port.off("message", heard);
      if (failed) port.off("messageerror", failed);
      port.unref();
    },
    printed,
    holdLifeline: () => {},
  };
}

/** Returns undefined. Node needs no lifeline: its ports report when the other side is gone. */
export function lifeline(): Promise<string> | undefined {
  return undefined;
}

export async function watchLifeline(_name: string, _signal: AbortSignal, _end: () => void): Promise<void> {}

/** Prints a warning, which `process.on("warning")` and Node's options can filter by its code. */
export function warn(message: string, code: string): void {
  process.emitWarning(message, { type: "ClearwayWarning", code });
}

/** Returns the bytes of JavaScript heap that this thread uses. */
export function heapBytes(): number | undefined {
  return process.memoryUsage().heapUsed;
}

/** Takes the oldest message that waits in a port. Returns undefined if there is none, and always in browsers. */
export function takeMessage(port: MessagePort): { message: unknown } | undefined {
  return threads.receiveMessageOnPort(port as unknown as threads.MessagePort) as { message: unknown } | undefined;
}

/** Calls `next` after this thread has handled the messages that are waiting now. */
export function afterMessages(next: () => void): void {
  setImmediate(next);
}

/** Calls `act` now: turns of Node's event loop take about 1 us. */
export function ifTurnsAreQuick(act: () => void): void {
  act();
}

// Idle time in milliseconds after which a worker no longer keeps the process alive. To unreference a worker and reference it again takes
// four calls into Node's core. Without the delay, each call that is made when the previous one is answered would cost half a microsecond
// more. The price of the delay: a script with no other work ends this much later.
const releaseMs = 10;

class KeepAlive implements Release {
  readonly #worker: Referenced;
  #wantsRef = true;
  #referenced = true;
  #timer: Timer | undefined;
  /** Whether the worker has printed since it last confirmed that all of its output had arrived. */
  #printing = false;
  #gone = false;

  constructor(worker: Referenced) {
    this.#worker = worker;
  }

  printed(): void {
    this.#printing = true;
  }

  flushed(): void {
    this.#unrefWhenIdle();
  }

  end(): void {
    this.#gone = true;
  }

  setRef(on: boolean): void {
    this.#wantsRef = on;
    if (on && !this.#referenced) {
      this.#referenced = true;
      this.#worker.ref();
    } else if (!on && this.#referenced && this.#timer === undefined) {
      // After the delay, waits for one more turn of the event loop. This thread then first reads the messages that arrived while it was
      // busy.
      this.#timer = setTimeout(() => setImmediate(() => this.#unrefWhenIdle()), releaseMs);
      unref(this.#timer);
    }
  }

  #unrefWhenIdle(): void {
    this.#timer = undefined;
    if (this.#wantsRef || !this.#referenced || this.#gone) return;
    if (this.#printing) {
      this.#printing = false;
      try {
        return this.#worker.flush();
      } catch {
        // The `postMessage` of a factory's worker may throw. The process must not wait for such a worker's output for ever.
      }
    }
    this.#referenced = false;
    this.#worker.unref();
  }
}
