// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import * as threads from "node:worker_threads";
import { ClearwayError } from "../error/clearway-error.js";
import { abortOf, reasonOf } from "../error/read-signal.js";
import type { ParentEndpoint, SpawnOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { isBuffer } from "./tag.js";

const mark = "clearway:worker";

// Requests all of a worker's printed output, and is also the answer. It travels between Clearway's frames, which are arrays.
const flush = "clearway:flush";

// Unreferencing a worker and referencing it again are four calls into Node's core, half a microsecond for each call that is made when
// the previous one is answered. A worker is therefore unreferenced only after it has been idle for this long, in milliseconds. A script
// with no other work ends that much later.
const releaseMs = 10;

/** Returns the number of threads that the machine can run at once. */
export function cores(): number {
  return availableParallelism();
}

/** The rules of `checked()` for `resourceLimits`. */
export const limitRules = {
  maxOldGenerationSizeMb: 0,
  maxYoungGenerationSizeMb: 0,
  codeRangeSizeMb: 0,
  stackSizeMb: 0,
};

/** One listener of a signal, for all that follow the signal. */
interface Hearing {
  readonly acts: Set<(reason: unknown) => void>;
  readonly abort: () => void;
}

const hearing = new WeakMap<AbortSignal, Hearing>();

/**
 * Calls `act` with the reason when the signal aborts, or at once if it has aborted. Returns a function that unsubscribes.
 *
 * Never throws. A signal that throws counts as aborted. Each signal has one listener: Node warns of more than ten, and hundreds of
 * calls may share one signal.
 */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const aborted = abortOf(signal);
  if (aborted) {
    act(aborted.reason);
    return () => {};
  }
  let own = hearing.get(signal);
  if (own) own.acts.add(act);
  else own = hear(signal, act);
  const { acts, abort } = own;
  return () => {
    if (!acts.delete(act) || acts.size > 0 || hearing.get(signal) !== own) return;
    hearing.delete(signal);
    try {
      signal.removeEventListener("abort", abort);
    } catch {
      // An event that still arrives finds no subscriber.
    }
  };
}

function hear(signal: AbortSignal, act: (reason: unknown) => void): Hearing {
  const acts = new Set([act]);
  const tell = (reason: unknown): void => {
    if (hearing.get(signal) === own) hearing.delete(signal);
    for (const each of acts) {
      acts.delete(each);
      each(reason);
    }
  };
  const own: Hearing = { acts, abort: () => tell(reasonOf(signal)) };
  try {
    hearing.set(signal, own);
    signal.addEventListener("abort", own.abort, { once: true });
  } catch (reason) {
    tell(reason);
  }
  return own;
}

/** Returns the function bound to the current async context (`AsyncLocalStorage`). */
export function inContext<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  return AsyncResource.bind(act);
}

/** Returns milliseconds since the epoch, with the resolution of the monotonic clock; comparable between threads. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Whether loading a part needs a network request. In Node it is a file, read in 0.3 ms. Loading parts when they are needed, or after
 * the first call was answered, does not delay another task's first call.
 */
export const partsTravel = false;

/** Whether a worker may survive an uncaught error. */
export const outlivesErrors = false;

let shiftMs: number | undefined;

/** Returns milliseconds of a monotonic clock, for differences within this thread. */
export function clock(): number {
  if (shiftMs !== undefined) return performance.now() + shiftMs;
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/**
 * Prepares `clock` to be fast.
 *
 * A worker's first access to `performance` takes 0.5 ms, a fortieth of its start. Until then `clock` uses `process.hrtime`, which costs
 * slightly more per call and is the same clock.
 */
export function warmClock(): void {
  shiftMs ??= clock() - performance.now();
}

/** Starts a worker from the URL of its module and returns at once. If the module fails to load, `error` is called. */
export function spawn(url: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  // A single letter is a Windows drive, not a URL scheme.
  const worker = new threads.Worker(typeof url === "string" && /^[a-z][a-z0-9+.-]+:/i.test(url) ? new URL(url) : url, {
    workerData: { [mark]: options.greeting },
    name: options.name,
    ...(options.resourceLimits && { resourceLimits: options.resourceLimits }),
  });
  return { ...adopt(worker, events), greeted: true };
}

// Two pools, or two places of one, would each read the other's results from one worker.
const adopted = /* @__PURE__ */ new WeakSet<object>();

/** Takes over a worker that a factory made. Throws `invalid-argument` for anything else, and for a worker that was taken over before. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (!(worker instanceof threads.Worker) || adopted.has(worker)) {
    throw new ClearwayError("invalid-argument", "the factory must return a new worker_threads Worker");
  }
  adopted.add(worker);
  let gone = false;
  // The error has its own connection and may arrive before the worker's last messages. All of these have arrived before its exit is
  // reported.
  let uncaught: { reason: unknown } | undefined;
  const exited = new Promise<unknown>((resolve) => {
    const exit = (code?: number): void => {
      gone = true;
      worker.removeAllListeners();
      if (uncaught) events.error(uncaught.reason);
      events.exit(code);
      // The worker's last output has arrived but may not be written yet.
      const unread = [worker.stdout, worker.stderr].filter((each) => each.readableFlowing && each.readableLength > 0);
      resolve(Promise.all(unread.map((each) => once(each, "close"))));
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
  let wanted = true;
  let held = true;
  let release: ReturnType<typeof setTimeout> | undefined;
  // True if the worker has printed since it last confirmed that all of its output had arrived.
  let printing = false;
  for (const stream of [worker.stdout, worker.stderr]) {
    // If the factory's owner reads the stream, the owner is responsible for its output.
    if (!stream.readableFlowing) continue;
    stream.on("data", () => {
      printing = true;
    });
  }
  const letGo = (): void => {
    release = undefined;
    if (wanted || !held || gone) return;
    if (printing) {
      printing = false;
      try {
        return worker.postMessage(flush);
      } catch {
        // The `postMessage` of a factory's worker may throw. The process must not wait for such a worker's output for ever.
      }
    }
    held = false;
    worker.unref();
  };
  worker.on("message", (message) => {
    // The worker's last lines were in flight when its last call was answered. It is unreferenced when they have arrived.
    if (message === flush) letGo();
    else events.message(message);
  });
  worker.on("messageerror", () => events.messageError(true));
  worker.on("error", (reason) => {
    uncaught = { reason };
  });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer as threads.TransferListItem[]),
    // Once: each call of Node's adds a listener until the thread has ended.
    terminate: () => {
      ending ??= end();
      return ending;
    },
    setRef: (on) => {
      wanted = on;
      if (on && !held) {
        held = true;
        worker.ref();
      } else if (!on && held && release === undefined) {
        // Then after one turn of the event loop, so that messages that arrived while this thread was busy are read first.
        release = setTimeout(() => setImmediate(letGo), releaseMs);
        release.unref();
      }
    },
  };
}

// A factory's worker may have a `terminate()` of its own, which may throw, reject, or not end the thread.
function endThread(worker: threads.Worker): void {
  const { terminate } = threads.Worker.prototype;
  try {
    if (worker.terminate !== terminate) Promise.resolve(worker.terminate()).catch(() => {});
  } catch {
    // Node's own follows.
  }
  void terminate.call(worker);
}

/** Returns the connection to the thread that started this thread; undefined on a main thread. */
export function parent(): ParentEndpoint | undefined {
  const port = threads.parentPort;
  if (threads.isMainThread || port === null) return undefined;
  let heard: ((message: unknown) => void) | undefined;
  let failed: (() => void) | undefined;
  const marked = typeof threads.workerData === "object" && threads.workerData !== null && mark in threads.workerData;
  return {
    marked,
    greeting: marked ? threads.workerData[mark] : undefined,
    post: (message, transfer) => port.postMessage(message, transfer as threads.TransferListItem[]),
    listen: (onMessage, onMessageError) => {
      heard = (message) => {
        if (message !== flush) return onMessage(message);
        void (printed() ?? Promise.resolve()).then(() => port.postMessage(flush));
      };
      failed = onMessageError;
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

// A worker's lines go to its parent one message at a time: the next leaves when the parent has taken the previous one.
function printed(): Promise<void> | undefined {
  const waiting = [process.stdout, process.stderr].filter((stream) => stream.writableLength > 0);
  if (waiting.length === 0) return undefined;
  return Promise.all(waiting.map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve())))).then(
    () => {},
  );
}

/** Not needed in Node: its ports report when the other side is gone. */
export function lifeline(): Promise<string> | undefined {
  return undefined;
}

export async function watchLifeline(_name: string, _signal: AbortSignal, _end: () => void): Promise<void> {}

/** Returns the bytes of JavaScript heap that this thread uses. */
export function heapBytes(): number | undefined {
  return process.memoryUsage().heapUsed;
}

/** Calls `next` after the waiting messages were handled. */
export function afterMessages(next: () => void): void {
  setImmediate(next);
}

const transferables = new Set(["MessagePort", "ReadableStream", "WritableStream", "TransformStream"]);

/** Returns whether structured clone moves this object. Buffers are handled separately. */
export function isTransferable(value: object): boolean {
  // Compares names first: access to these globals would load Node's web streams, 2 ms of every worker's start.
  const type = value.constructor as { name?: string } | null | undefined;
  if (type?.name === undefined) return false;
  if (transferables.has(type.name)) return type === (globalThis as Record<string, unknown>)[type.name];
  // FileHandle is not a global; its class name and descriptor identify it.
  return type.name === "FileHandle" && "fd" in value;
}

const marked = (threads as { isMarkedAsUntransferable?: (value: object) => boolean }).isMarkedAsUntransferable;

/** Returns whether a failed post of this object may lose others. Never in Node. */
export function isDoubtful(_object: object): boolean {
  return false;
}

const wasmPageBytes = 65_536;

/** Returns whether the memory's owner keeps it: Node's buffer pool, marked buffers, and in Node 20 WebAssembly memory. */
export function isUntransferable(buffer: ArrayBuffer): boolean {
  if (marked) return marked(buffer);
  // Node 20 cannot report this and silently copies such a buffer in a transfer list. The pool in use can be recognised. WebAssembly
  // memory comes in whole pages, so only buffers of whole pages justify the 2.5 us of the test.
  if (buffer === Buffer.allocUnsafe(1).buffer) return true;
  return buffer.byteLength > 0 && buffer.byteLength % wasmPageBytes === 0 && staysInNode20(buffer);
}

// Node 20 skips objects that it does not move before it looks for duplicates in the list. It throws on duplicates before anything
// moves. Newer versions reject WebAssembly memory themselves; remove this function with Node 20.
function staysInNode20(buffer: ArrayBuffer): boolean {
  const { stackTraceLimit } = Error;
  // The stack would double the time.
  Error.stackTraceLimit = 0;
  try {
    structuredClone(null, { transfer: [buffer, buffer] });
    return true;
  } catch {
    return false;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Throws `DataCloneError` for a buffer that was moved before.
 *
 * Node 20 posts such a buffer without an error, and the whole message arrives as a `messageerror`. Newer versions throw; remove this
 * with Node 20.
 */
export function refuseDetached(object: object): void {
  if (!isBuffer(object) || object.byteLength > 0) return;
  try {
    new Uint8Array(object);
  } catch {
    throw new DOMException("An ArrayBuffer was moved before and could not be moved again.", "DataCloneError");
  }
}
