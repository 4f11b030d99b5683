// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncResource } from "node:async_hooks";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import * as threads from "node:worker_threads";
import { ClearwayError } from "../error/clearway-error.js";
import type { ParentEndpoint, SpawnOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { isBuffer } from "./tag.js";

const mark = "clearway:worker";

// Asks a worker for all that it has printed, and is the answer. Between Clearway's frames, which are arrays.
const flush = "clearway:flush";

// Letting go of a worker and holding it again are four calls into Node's core, half a microsecond for each call that is
// made when the one before is answered. So a worker is let go of when it has been idle for this long, in milliseconds; a
// script that has nothing else to do ends that much later.
const releaseMs = 10;

/** How many threads the machine runs at once. */
export function cores(): number {
  return availableParallelism();
}

/** What `resourceLimits` may say, as rules of `checked()`. */
export const limitRules = {
  maxOldGenerationSizeMb: 0,
  maxYoungGenerationSizeMb: 0,
  codeRangeSizeMb: 0,
  stackSizeMb: 0,
};

/** Who hears of each signal's abort, and the one listener that tells them. */
const hearing = new WeakMap<AbortSignal, { acts: Set<() => void>; tell: () => void }>();

/**
 * Calls `act` when the signal is aborted. Returns what takes that back. One listener a signal: of more than ten Node warns, and
 * hundreds of calls may share one signal.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let known = hearing.get(signal);
  if (!known) {
    const acts = new Set<() => void>();
    const tell = (): void => {
      hearing.delete(signal);
      for (const each of acts) each();
    };
    known = { acts, tell };
    hearing.set(signal, known);
    signal.addEventListener("abort", tell, { once: true });
  }
  const { acts, tell } = known;
  acts.add(act);
  return () => {
    if (!acts.delete(act) || acts.size > 0 || hearing.get(signal)?.acts !== acts) return;
    hearing.delete(signal);
    signal.removeEventListener("abort", tell);
  };
}

/** The function, to be called later in the async context of now (`AsyncLocalStorage`). */
export function inContext<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  return AsyncResource.bind(act);
}

/** Milliseconds since the epoch, with the resolution of the monotonic clock; comparable between threads. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Whether a part that is loaded later is a request. Here it is a file, read in 0.3 ms: asked for when it is needed or when the
 * first call has been answered, it holds up no other task's first call.
 */
export const partsTravel = false;

/** Whether a worker may live on after an uncaught error. */
export const outlivesErrors = false;

let shiftMs: number | undefined;

/** Milliseconds of a monotonic clock, for differences within this thread. */
export function clock(): number {
  if (shiftMs !== undefined) return performance.now() + shiftMs;
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/**
 * Makes `clock` as quick as it can be. A worker's first look at `performance` takes 0.5 ms, a fortieth of its start; until
 * then the clock is `process.hrtime`, which costs a little more each time (and is the same clock).
 */
export function warmClock(): void {
  shiftMs ??= clock() - performance.now();
}

/** Starts a worker from the URL of its module. Returns at once; a module that fails to load is told by `error`. */
export function spawn(url: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  // One letter is a drive of Windows.
  const worker = new threads.Worker(typeof url === "string" && /^[a-z][a-z0-9+.-]+:/i.test(url) ? new URL(url) : url, {
    workerData: { [mark]: options.greeting },
    name: options.name,
    ...(options.resourceLimits && { resourceLimits: options.resourceLimits }),
  });
  return { ...adopt(worker, events), greeted: true };
}

/** Takes over a worker that a factory made. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (!(worker instanceof threads.Worker)) {
    throw new ClearwayError("invalid-argument", "the factory must return a worker_threads Worker");
  }
  let gone = false;
  // Heard through a wire of its own, maybe before what the worker said last; before its exit is told, all of that is there.
  let uncaught: { reason: unknown } | undefined;
  const exited = new Promise<unknown>((resolve) => {
    const exit = (code?: number): void => {
      gone = true;
      worker.removeAllListeners();
      if (uncaught) events.error(uncaught.reason);
      events.exit(code);
      // What it printed last is here, but maybe not written yet.
      const unread = [worker.stdout, worker.stderr].filter((each) => each.readableFlowing && each.readableLength > 0);
      resolve(Promise.all(unread.map((each) => once(each, "close"))));
    };
    // One that has ended before says nothing any more.
    if (worker.threadId < 0) queueMicrotask(exit);
    else worker.once("exit", exit);
  });
  let wanted = true;
  let held = true;
  let release: ReturnType<typeof setTimeout> | undefined;
  // Set when the worker has printed since it last said that all of that was here.
  let printing = false;
  for (const stream of [worker.stdout, worker.stderr]) {
    // One that the factory's owner reads is his to care for.
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
      worker.postMessage(flush);
    } else {
      held = false;
      worker.unref();
    }
  };
  worker.on("message", (message) => {
    // Its last lines were on their way when its last call was answered: it is let go of when they are here.
    if (message === flush) letGo();
    else events.message(message);
  });
  worker.on("messageerror", () => events.messageError(true));
  worker.on("error", (reason) => {
    uncaught = { reason };
  });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer as threads.TransferListItem[]),
    terminate: async () => {
      if (!gone) await worker.terminate();
      await exited;
    },
    setRef: (on) => {
      wanted = on;
      if (on && !held) {
        held = true;
        worker.ref();
      } else if (!on && held && release === undefined) {
        // Then after a turn of the event loop: what came while this thread was busy is read first.
        release = setTimeout(() => setImmediate(letGo), releaseMs);
        release.unref();
      }
    },
  };
}

/** The wire to the side that started this thread; undefined on a main thread. */
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

// A worker's lines go to its parent one message at a time: the next leaves when the one before was taken.
function printed(): Promise<void> | undefined {
  const waiting = [process.stdout, process.stderr].filter((stream) => stream.writableLength > 0);
  if (waiting.length === 0) return undefined;
  return Promise.all(waiting.map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve())))).then(
    () => {},
  );
}

/** Node's ports tell by themselves when the other side is gone. */
export function lifeline(): Promise<string> | undefined {
  return undefined;
}

export async function watchLifeline(_name: string, _signal: AbortSignal, _end: () => void): Promise<void> {}

/** Bytes of JavaScript heap that this thread uses, where the host tells. */
export function heapBytes(): number | undefined {
  return process.memoryUsage().heapUsed;
}

/** Lets waiting messages be handled, then calls `next`. */
export function afterMessages(next: () => void): void {
  setImmediate(next);
}

const transferables = new Set(["MessagePort", "ReadableStream", "WritableStream", "TransformStream"]);

/** Whether structured clone moves this object (buffers apart). */
export function isTransferable(value: object): boolean {
  // By name first: naming these globals would load Node's web streams, 2 ms of every worker's start.
  const type = value.constructor as { name?: string } | null | undefined;
  if (type?.name === undefined) return false;
  if (transferables.has(type.name)) return type === (globalThis as Record<string, unknown>)[type.name];
  // FileHandle is not reachable as a global; its class name and descriptor identify it.
  return type.name === "FileHandle" && "fd" in value;
}

const marked = (threads as { isMarkedAsUntransferable?: (value: object) => boolean }).isMarkedAsUntransferable;

/** Whether a refusal of this object comes only after what stands before it in the list was moved. Never in Node. */
export function isDoubtful(_object: object): boolean {
  return false;
}

const wasmPageBytes = 65_536;

/** Whether this memory is kept by its owner: Node's buffer pool, what was marked so, and in Node 20 WebAssembly's. */
export function isUntransferable(buffer: ArrayBuffer): boolean {
  if (marked) return marked(buffer);
  // Node 20 has no way to ask, and copies such a buffer in silence when it stands in a transfer list. The pool in use can be
  // recognised. WebAssembly's memory comes in whole pages; only for those it is worth the 2.5 us that asking takes.
  if (buffer === Buffer.allocUnsafe(1).buffer) return true;
  return buffer.byteLength > 0 && buffer.byteLength % wasmPageBytes === 0 && staysInNode20(buffer);
}

// Node 20 skips what it does not move before it looks for objects that are listed twice, and throws on those before
// anything moves. Newer ones refuse WebAssembly's memory by themselves; this can go with Node 20.
function staysInNode20(buffer: ArrayBuffer): boolean {
  const { stackTraceLimit } = Error;
  // The stack would take as long again as the rest.
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
 * Throws `DataCloneError` for a buffer that was moved before. Node 20 posts one without a word, and the whole message arrives
 * as a `messageerror`. Newer ones throw; this can go with Node 20.
 */
export function refuseDetached(object: object): void {
  if (!isBuffer(object) || object.byteLength > 0) return;
  try {
    new Uint8Array(object);
  } catch {
    throw new DOMException("An ArrayBuffer was moved before and could not be moved again.", "DataCloneError");
  }
}
