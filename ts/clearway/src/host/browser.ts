// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../error/clearway-error.js";
import { reasonOf } from "../error/read-signal.js";
import type { ParentEndpoint, SpawnOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { isBuffer, tagOf } from "./tag.js";

const mark = "clearway:";

/** Returns the browser's count of threads that the machine runs at once. */
export function cores(): number {
  return globalThis.navigator?.hardwareConcurrency || 2;
}

/** The rule of `checked()` for `resourceLimits`, which have no effect in browsers. */
export const limitRules = "object";

/**
 * Calls `act` with the reason when the signal aborts, or at once if it has aborted. Returns a function that unsubscribes.
 *
 * Never throws. A signal that throws counts as aborted. A foreign signal may call `act` more than once.
 */
export function onAbort(signal: AbortSignal, act: (reason: unknown) => void): () => void {
  const abort = (): void => act(reasonOf(signal));
  try {
    signal.aborted ? abort() : signal.addEventListener("abort", abort, { once: true });
  } catch (reason) {
    act(reason);
  }
  return () => {
    try {
      signal.removeEventListener("abort", abort);
    } catch {
      // What hears later finds that there is nothing to cancel.
    }
  };
}

/** Returns the function unchanged: browsers have no async contexts. */
export const inContext = <Act>(act: Act): Act => act;

/** Returns milliseconds since the epoch, as precise as the page's isolation allows; comparable between threads. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Whether loading a part needs a network request. If so, parts are requested before they are needed. */
export const partsTravel = true;

/** Whether a worker may survive an uncaught error. */
export const outlivesErrors = true;

/** Returns milliseconds of a monotonic clock, for differences within this thread. */
export function clock(): number {
  return performance.now();
}

/** Prepares `clock` to be fast. In browsers it already is. */
export function warmClock(): void {}

/** Starts a module worker from its URL and returns at once. If the module fails to load, `error` is called. */
export function spawn(url: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  return adopt(new Worker(url, { type: "module", name: mark + options.name }), events);
}

// Locks belong to an origin. A thread of another origin sees no holder for a held name.
const originEnd = `@${globalThis.origin}`;

// Holds a lock as long as this thread lives, and calls `held` with its name once the lock is granted, never before. The browser
// processes the request only when the thread is free, which may be much later. `held` is never called where locks are denied (opaque
// origins).
function holdLock(stem: string, held: (name: string) => void): void {
  const name = stem + originEnd;
  const hold = (): Promise<never> => {
    held(name);
    return new Promise(() => {});
  };
  navigator.locks.request(name, hold).catch(() => {});
}

let ownLifeline: Promise<string> | undefined;

/**
 * Returns the name of a lock that this worker holds as long as it lives.
 *
 * Other threads use the lock to detect the worker's end. The promise settles once the lock is held, and never where locks are denied.
 * Returns undefined on pages, because a lock would exclude them from the browser's back/forward cache, and in insecure contexts, which
 * have no locks.
 */
export function lifeline(): Promise<string> | undefined {
  if (typeof document !== "undefined" || !globalThis.navigator?.locks) return undefined;
  ownLifeline ??= new Promise((held) => holdLock(`clearway:${now()}:${Math.random()}`, held));
  return ownLifeline;
}

/**
 * Calls `end` when the worker that holds the lock of this name is gone.
 *
 * A worker reports the name once it holds the lock, so if no thread holds it, the worker is already gone. Does nothing for a worker of
 * another origin. Rejects where there are no locks.
 */
export async function watchLifeline(name: string, signal: AbortSignal, end: () => void): Promise<void> {
  if (!name.endsWith(originEnd)) return;
  const { held = [] } = await navigator.locks.query();
  if (signal.aborted) return;
  if (!held.some((lock) => lock.name === name)) return end();
  navigator.locks.request(name, { signal }, end).catch(() => {});
}

// Two pools, or two places of one, would each read the other's results from one worker.
const adopted = /* @__PURE__ */ new WeakSet<object>();

/** Takes over a worker that a factory made. Throws `invalid-argument` for anything else, and for a worker that was taken over before. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (typeof Worker !== "function" || !(worker instanceof Worker) || adopted.has(worker)) {
    throw new ClearwayError("invalid-argument", "the factory must return a new Worker");
  }
  adopted.add(worker);
  const lifeline = new AbortController();
  const end = (): void => {
    if (lifeline.signal.aborted) return;
    lifeline.abort();
    worker.onmessage = worker.onerror = null;
    // A worker that counts as dead must stop, because its calls may run again elsewhere. A factory's own `terminate()` may throw.
    try {
      worker.terminate();
    } catch {
      Worker.prototype.terminate.call(worker);
    }
    events.exit(undefined);
  };
  worker.onmessage = ({ data }) => {
    if (typeof data?.clearwayLifeline === "string") {
      watchLifeline(data.clearwayLifeline, lifeline.signal, end).catch(() => {});
    } else if (data?.clearwayEnding === true) {
      // Arrives after the worker's last message, so no message is lost.
      end();
    } else if (data === null) {
      // Chromium delivers `null` for a message that it cannot read.
      events.messageError(false);
    } else events.message(data);
  };
  // Chromium's Worker has the event but no `onmessageerror` property; a handler set there would never be called.
  worker.addEventListener("messageerror", () => events.messageError(true), { signal: lifeline.signal });
  worker.onerror = (event) => {
    event.preventDefault();
    // For a module that cannot be fetched, the event is a plain Event without a message.
    events.error(event.error ?? new Error(event.message || "the worker's module could not be loaded"));
  };
  return {
    post: (message, transfer) => worker.postMessage(message, doubtfulFirst(transfer)),
    terminate: async () => end(),
    setRef: () => {},
  };
}

interface WorkerScope extends EventTarget {
  name: string;
  close(): void;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

/** Returns the connection to the thread that started this dedicated worker. Returns undefined on a page and in other scopes. */
export function parent(): ParentEndpoint | undefined {
  const Scope = (globalThis as Record<string, unknown>)["DedicatedWorkerGlobalScope"];
  if (typeof Scope !== "function" || !(globalThis instanceof Scope)) return undefined;
  const scope = globalThis as unknown as WorkerScope;
  let ignore = (): void => {};
  let held = false;
  const marked = scope.name.startsWith(mark);
  return {
    marked,
    greeting: undefined,
    post: (message, transfer) => scope.postMessage(message, doubtfulFirst(transfer)),
    listen: (onMessage, onMessageError) => {
      const heard = (event: Event): void => {
        const { data } = event as MessageEvent;
        // Chromium delivers `null` for a message that it cannot read. If other code can post to the worker, `null` may be that code's
        // message.
        if (data === null && marked) onMessageError();
        else onMessage(data);
      };
      scope.addEventListener("message", heard);
      scope.addEventListener("messageerror", onMessageError);
      ignore = () => {
        scope.removeEventListener("message", heard);
        scope.removeEventListener("messageerror", onMessageError);
      };
    },
    onEnding: (last) => {
      const close = scope.close.bind(scope);
      scope.close = () => {
        last();
        scope.postMessage({ clearwayEnding: true }, []);
        close();
      };
    },
    ignore: () => ignore(),
    printed: () => undefined,
    holdLifeline: (name) => {
      // Locks exist in secure contexts only. Elsewhere only `close` above reports the worker's end.
      if (held || !navigator.locks) return;
      held = true;
      holdLock(name, (told) => scope.postMessage({ clearwayLifeline: told }, []));
    },
  };
}

/** Returns the bytes of JavaScript heap that this thread uses. Only Chromium reports them. */
export function heapBytes(): number | undefined {
  return (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize;
}

let turns: MessageChannel | undefined;
const waiting: (() => void)[] = [];

/** Calls `next` after the waiting messages were handled. */
export function afterMessages(next: () => void): void {
  // A message to the own thread queues behind the waiting ones and is not clamped to 4 ms like a nested timer.
  if (turns === undefined) {
    turns = new MessageChannel();
    turns.port1.onmessage = () => waiting.shift()?.();
  }
  waiting.push(next);
  turns.port2.postMessage(null);
}

const transferable =
  /^(MessagePort|(Readable|Writable|Transform|WebTransport(Receive|Send))Stream|ImageBitmap|OffscreenCanvas|VideoFrame|AudioData|RTCDataChannel|MediaSourceHandle)$/;

/** Returns whether structured clone moves this object, of any realm. Buffers are handled separately. */
export function isTransferable(value: object): boolean {
  return transferable.test(tagOf(value));
}

const wasmPageBytes = 65_536;

/**
 * Returns whether a failed post of this object may lose others. Those before it in the list were already moved.
 *
 * The port transport posts the frames that have such objects in separate messages.
 */
export function isDoubtful(object: object): boolean {
  return isBuffer(object) && object.byteLength > 0 && object.byteLength % wasmPageBytes === 0;
}

// Chromium's postMessage throws on WebAssembly memory, which comes in whole pages. By then it has already detached the objects before
// it in the list, which would be lost. Possible WebAssembly memory therefore comes first, and `port.ts` posts the frames that have any
// in separate messages. One loss remains, with a typed error: buffers of whole pages in the same result as such memory. Copy those
// buffers before.
function doubtfulFirst(transfer: readonly object[]): Transferable[] {
  if (transfer.length < 2 || !transfer.some(isDoubtful)) return transfer as Transferable[];
  return [...transfer].sort((a, b) => Number(isDoubtful(b)) - Number(isDoubtful(a))) as Transferable[];
}

/** Returns whether the memory's owner keeps it. Browsers do not report this; the transport handles the failed post. */
export function isUntransferable(_buffer: ArrayBuffer): boolean {
  return false;
}

/** Throws for a buffer that was moved before. Browsers do this themselves when it is posted. */
export function refuseDetached(_object: object): void {}
