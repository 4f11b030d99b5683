// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { ParentEndpoint, SpawnOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { isBuffer, tagOf } from "./tag.js";

const mark = "clearway:";

/** How many threads the machine says that it runs at once. */
export function cores(): number {
  return globalThis.navigator?.hardwareConcurrency || 2;
}

/** What `resourceLimits` may say, as a rule of `checked()`: they have no effect here. */
export const limitRules = "object";

/** Calls `act` when the signal is aborted. Returns what takes that back. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}

/** The function as it is: browsers have no async contexts. */
export const inContext = <Act>(act: Act): Act => act;

/** Milliseconds since the epoch, as fine as the page's isolation allows; comparable between threads. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Whether a part that is loaded later is a request: then it is asked for before it is needed. */
export const partsTravel = true;

/** Whether a worker may live on after an uncaught error. */
export const outlivesErrors = true;

/** Milliseconds of a monotonic clock, for differences within this thread. */
export function clock(): number {
  return performance.now();
}

/** Makes `clock` as quick as it can be: it is. */
export function warmClock(): void {}

/** Starts a module worker from its URL. Returns at once; a module that fails to load is told by `error`. */
export function spawn(url: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  return adopt(new Worker(url, { type: "module", name: mark + options.name }), events);
}

// Locks are kept by origin: who is of another origin finds no holder for a name that is held.
const originEnd = `@${globalThis.origin}`;

// Holds a lock as long as this thread lives, and calls `held` with its name once it is granted, never before: a browser takes
// in the request only when the thread is free, and that may be long after. Not at all where locks are denied (opaque origins).
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
 * In a worker, the name of a lock that it holds as long as it lives, for who wants to know when it is gone: settles once the lock
 * is held, which is never where locks are denied. Undefined on pages, which would lose their place in the browser's cache
 * by it, and where the context is not secure: there are no locks.
 */
export function lifeline(): Promise<string> | undefined {
  if (typeof document !== "undefined" || !globalThis.navigator?.locks) return undefined;
  ownLifeline ??= new Promise((held) => holdLock(`clearway:${now()}:${Math.random()}`, held));
  return ownLifeline;
}

/**
 * Calls `end` when the worker is gone that holds the lock of this name. The name is told once the lock is held: where nobody
 * holds it, the worker is gone already. Does nothing for a worker of another origin, and rejects where there are no locks.
 */
export async function watchLifeline(name: string, signal: AbortSignal, end: () => void): Promise<void> {
  if (!name.endsWith(originEnd)) return;
  const { held = [] } = await navigator.locks.query();
  if (signal.aborted) return;
  if (!held.some((lock) => lock.name === name)) return end();
  navigator.locks.request(name, { signal }, end).catch(() => {});
}

/** Takes over a worker that a factory made. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (typeof Worker !== "function" || !(worker instanceof Worker)) {
    throw new ClearwayError("invalid-argument", "the factory must return a Worker");
  }
  const lifeline = new AbortController();
  const end = (): void => {
    if (lifeline.signal.aborted) return;
    lifeline.abort();
    worker.onmessage = worker.onerror = null;
    // A worker that is taken for dead must not go on: its calls may run again elsewhere.
    worker.terminate();
    events.exit(undefined);
  };
  worker.onmessage = ({ data }) => {
    if (typeof data?.clearwayLifeline === "string") {
      watchLifeline(data.clearwayLifeline, lifeline.signal, end).catch(() => {});
    } else if (data?.clearwayEnding === true) {
      // Comes after the worker's last message: nothing is lost.
      end();
    } else if (data === null) {
      // So Chromium gives what it cannot read.
      events.messageError(false);
    } else events.message(data);
  };
  // Chromium's Worker has the event and no `onmessageerror`: set there, it would never be called.
  worker.addEventListener("messageerror", () => events.messageError(true), { signal: lifeline.signal });
  worker.onerror = (event) => {
    event.preventDefault();
    // A module that cannot be fetched gives a plain Event without a message.
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

/** The wire to the side that started this dedicated worker; undefined on a page and in other scopes. */
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
        // So Chromium gives what it cannot read. A worker that others can post to may be given that by them.
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
      // Locks exist in secure contexts only; elsewhere `close` above is the one ending that is told.
      if (held || !navigator.locks) return;
      held = true;
      holdLock(name, (told) => scope.postMessage({ clearwayLifeline: told }, []));
    },
  };
}

/** Bytes of JavaScript heap that this thread uses, where the browser tells (Chromium). */
export function heapBytes(): number | undefined {
  return (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize;
}

let turns: MessageChannel | undefined;
const waiting: (() => void)[] = [];

/** Lets waiting messages be handled, then calls `next`. */
export function afterMessages(next: () => void): void {
  // A message to oneself queues behind those that wait, and is not clamped to 4 ms as a nested timer is.
  if (turns === undefined) {
    turns = new MessageChannel();
    turns.port1.onmessage = () => waiting.shift()?.();
  }
  waiting.push(next);
  turns.port2.postMessage(null);
}

const transferable =
  /^(MessagePort|(Readable|Writable|Transform|WebTransport(Receive|Send))Stream|ImageBitmap|OffscreenCanvas|VideoFrame|AudioData|RTCDataChannel|MediaSourceHandle)$/;

/** Whether structured clone moves this object (buffers apart), of any realm. */
export function isTransferable(value: object): boolean {
  return transferable.test(tagOf(value));
}

const wasmPageBytes = 65_536;

/** Whether a refusal of this object comes only after what stands before it in the list was moved. One a message at most. */
export function isDoubtful(object: object): boolean {
  return isBuffer(object) && object.byteLength > 0 && object.byteLength % wasmPageBytes === 0;
}

// Chromium's postMessage throws on WebAssembly's memory, which comes in whole pages, but has taken by then what stands
// before it in the list, and would lose it. What may be such memory therefore stands first, and `port.ts` posts it in messages
// of their own. Still lost, with a typed error: whole pages that stand in one result with such memory. Copy that before.
function doubtfulFirst(transfer: readonly object[]): Transferable[] {
  if (transfer.length < 2 || !transfer.some(isDoubtful)) return transfer as Transferable[];
  return [...transfer].sort((a, b) => Number(isDoubtful(b)) - Number(isDoubtful(a))) as Transferable[];
}

/** Whether this memory is kept by its owner. Browsers do not tell; see the fallback in the transport. */
export function isUntransferable(_buffer: ArrayBuffer): boolean {
  return false;
}

/** Throws for a buffer that was moved before. Browsers do so when it is posted. */
export function refuseDetached(_object: object): void {}
