// SPDX-License-Identifier: MIT OR Apache-2.0

import { reasonOf } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { clock, newAbortController, newMessageChannel, now, OwnPromise, postTo } from "../globals.js";
import type { ParentEndpoint, SpawnOptions, ThreadOptions, WorkerEvents, WorkerHandle, WorkerLike } from "./host.js";
import { bufferBytes, tagOf } from "./structure.js";

export { hasHiddenSlots, structureBySlots as structureOf } from "./structure.js";

const mark = "clearway:";

/** Returns how many threads the machine can run at once, as the browser reports it. */
export function cores(): number {
  return globalThis.navigator?.hardwareConcurrency || 2;
}

/** The rules of `checked()` for the options of a worker's thread. `resourceLimits` has no effect in browsers. The others are refused. */
export const threadRules = { resourceLimits: "object" };

/**
 * Calls `act` with the reason when the signal aborts, or at once if the signal has aborted already. Returns a function that unsubscribes.
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
      // An event that still arrives finds nothing to cancel.
    }
  };
}

/** Returns the function unchanged: browsers have no async contexts. */
export const inContext = <Act>(act: Act): Act => act;

/** Whether this thread is a worker that runs as a child process. */
export const inProcess = false;

/** Does nothing: browsers refuse the option `processes`. */
export function checkProcesses(_options: ThreadOptions): void {}

/** Does nothing: browsers refuse the option `processes`. */
export function refuseFactory(): void {}

/** Returns the source of a worker, as messages show it. */
export const shownSource = (source: URL | string): string => String(source).replace(/^(data:[^,]*).*/s, "$1");

/** Starts a module worker from its URL and returns at once. If the module fails to load, calls `events.error`. */
export function spawn(url: URL | string, options: SpawnOptions, events: WorkerEvents): WorkerHandle {
  return adopt(new Worker(url, { type: "module", name: mark + options.name }), events);
}

// Suffix of every lock name. The browser keeps separate locks for each origin, so a thread cannot see the locks of another origin.
const originEnd = `@${globalThis.origin}`;

// No feature tells Firefox's engine from others.
const inGecko = /* @__PURE__ */ (() => /Gecko\/\d/.test(globalThis.navigator?.userAgent ?? ""))();

/**
 * Whether a pool's workers hold locks, by which the pool notices their end. Locks exist in secure contexts only. Firefox keeps no page in its
 * back/forward cache while a worker of the page holds a lock. Without locks, only the replaced `close` reports a worker's end.
 */
export const holdsLifelines: boolean = /* @__PURE__ */ (() => globalThis.navigator?.locks !== undefined && !inGecko)();

// Holds a lock as long as this thread lives. Calls `granted` with the lock's name once the browser has granted the lock. The browser
// processes the request only when the thread is free, which may be much later. If the browser denies locks (opaque origins), `granted` is
// never called.
function holdLock(stem: string, granted: (name: string) => void): void {
  const name = stem + originEnd;
  const hold = (): Promise<never> => {
    granted(name);
    return new OwnPromise(() => {});
  };
  navigator.locks.request(name, hold).catch(() => {});
}

let ownLifeline: Promise<string> | undefined;

/**
 * Returns a promise of the name of a lock that this worker holds as long as it lives.
 *
 * Other threads use the lock to detect the worker's end. The promise settles once the worker holds the lock. The promise never settles if
 * the browser denies locks. Returns undefined in insecure contexts, which have no locks. Also returns undefined on pages: the browser does
 * not put a page that holds a lock into its back/forward cache.
 */
export function lifeline(): Promise<string> | undefined {
  if (typeof document !== "undefined" || !globalThis.navigator?.locks) return undefined;
  ownLifeline ??= new OwnPromise((granted) => holdLock(`clearway:${now()}:${Math.random()}`, granted));
  return ownLifeline;
}

// If the user has left this page, `returned` settles when the user returns.
const page: { returned?: Promise<unknown> } = /* @__PURE__ */ watchPage();

function watchPage(): typeof page {
  const state: typeof page = {};
  globalThis.document?.defaultView?.addEventListener("pagehide", () => {
    state.returned = new OwnPromise((back) => addEventListener("pageshow", back, { once: true }));
  });
  return state;
}

/**
 * Calls `end` when the worker that holds the lock of this name is gone.
 *
 * A worker reports the lock's name only after it holds the lock. If no thread holds the lock, the worker is therefore already gone. Does
 * nothing for a worker of another origin. Rejects if the host has no locks.
 *
 * On a page that the user has left, requests the lock only when the user returns. A page in Chromium's back/forward cache may have a
 * waiting request, but a request that it makes there evicts it.
 */
export async function watchLifeline(name: string, signal: AbortSignal, end: () => void): Promise<void> {
  if (!name.endsWith(originEnd)) return;
  await page.returned;
  navigator.locks.request(name, { signal }, end).catch(() => {});
}

// Workers that a pool has taken over. If two pools, or two places of one pool, shared a worker, each would read the other's results.
const adopted = /* @__PURE__ */ new WeakSet<object>();

/** Takes over a worker that a factory made. Throws `invalid-argument` for any other value, and for a worker that was taken over before. */
export function adopt(worker: WorkerLike, events: WorkerEvents): WorkerHandle {
  if (typeof Worker !== "function" || !(worker instanceof Worker) || adopted.has(worker)) {
    throw new ClearwayError(
      "invalid-argument",
      "the factory must return a new Worker (to run a function, expose() it in a task module)",
    );
  }
  adopted.add(worker);
  const ended = newAbortController();
  const { signal } = ended;
  const end = (): void => {
    if (signal.aborted) return;
    ended.abort();
    worker.onmessage = worker.onerror = null;
    // The pool treats this worker as dead and may run its calls again elsewhere, so the worker must stop. A factory's worker may have its own
    // `terminate()`, which may throw, reject, or not end the thread. The browser's `terminate` is therefore called in any case.
    new OwnPromise((resolve) => resolve(worker.terminate())).catch(() => {});
    Worker.prototype.terminate.call(worker);
    events.exit(undefined);
  };
  worker.onmessage = ({ data }) => {
    if (typeof data?.clearwayLifeline === "string") {
      watchLifeline(data.clearwayLifeline, signal, end).catch(() => {});
    } else if (data?.clearwayEnding === true) {
      // The worker posts this message last, so no earlier message is lost.
      end();
    } else if (data === null) {
      // Chromium delivers `null` for a message that it cannot read.
      events.messageError(false);
    } else events.message(data);
  };
  // Chromium's Worker dispatches the event, but has no `onmessageerror` property. A handler set there would never be called.
  worker.addEventListener("messageerror", () => events.messageError(true), { signal });
  worker.onerror = (event) => {
    event.preventDefault();
    // If the module cannot be fetched, the event is a plain Event without a message. Only an imitation of workers has the error itself.
    const what = event.message ? undefined : "the worker's module could not be loaded";
    events.error(event.error ?? new Error(what ?? event.message), what);
  };
  return {
    post: (message, transfer) => worker.postMessage(message, possibleWasmFirst(transfer)),
    terminate: async () => end(),
    setRef: () => {},
  };
}

interface WorkerScope extends EventTarget {
  name: string;
  close(): void;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

/** Returns the connection to the thread that started this dedicated worker. Returns undefined on a page and in all other scopes. */
export function parent(): ParentEndpoint | undefined {
  const Scope = (globalThis as Record<string, unknown>)["DedicatedWorkerGlobalScope"];
  if (typeof Scope !== "function" || !(globalThis instanceof Scope)) return undefined;
  const scope = globalThis as unknown as WorkerScope;
  let ignore = (): void => {};
  let holdsLifeline = false;
  const marked = scope.name.startsWith(mark);
  // A task may replace the scope's function.
  const post = scope.postMessage.bind(scope);
  return {
    marked,
    greeting: undefined,
    post: (message, transfer) => post(message, possibleWasmFirst(transfer)),
    listen: (listener) => {
      const unreadable = (): void => listener.unreadable();
      const onEvent = (event: Event): void => {
        const { data } = event as MessageEvent;
        // Chromium delivers `null` for a message that it cannot read. In a worker without the mark, other code may also post `null`.
        if (data === null && marked) listener.unreadable();
        else listener.message(data);
      };
      scope.addEventListener("message", onEvent);
      scope.addEventListener("messageerror", unreadable);
      ignore = () => {
        scope.removeEventListener("message", onEvent);
        scope.removeEventListener("messageerror", unreadable);
      };
    },
    onEnding: (last) => {
      const close = scope.close.bind(scope);
      scope.close = () => {
        last();
        post({ clearwayEnding: true }, []);
        close();
      };
    },
    ignore: () => ignore(),
    printed: () => undefined,
    holdLifeline: (name) => {
      if (holdsLifeline || !holdsLifelines) return;
      holdsLifeline = true;
      holdLock(name, (lockName) => post({ clearwayLifeline: lockName }, []));
    },
  };
}

/** Prints a warning, with its code, by which developer tools can filter it. */
export function warn(message: string, code: string): void {
  console.warn(`[${code}] ClearwayWarning: ${message}`);
}

/** Returns the bytes of JavaScript heap that this thread uses. Only Chromium reports them. */
export function heapBytes(): number | undefined {
  return (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize;
}

/** Returns undefined. Browsers deliver messages only in turns of their own. */
export function takeMessage(_port: MessagePort): undefined {}

let turns: MessageChannel | undefined;
const waiting: (() => void)[] = [];

/** Calls `next` after this thread has handled the messages that are waiting now. */
export function afterMessages(next: () => void): void {
  // A message that a thread posts to itself is handled after the waiting messages. Unlike a nested timer, it is not delayed by at least 4
  // ms.
  if (turns === undefined) {
    turns = newMessageChannel();
    turns.port1.onmessage = () => waiting.shift()?.();
  }
  waiting.push(next);
  postTo(turns.port2, null);
}

/** In microseconds. A turn takes 4 to 6 in Chromium, and 107 to 550 in WebKit, where a ring makes calls 3 to 8 times slower than the port. */
const quickTurnUs = 50;
/** Number of turns that are measured together, because the clock's step is up to 20 us; and the number of such measurements. */
const turnsTogether = 4;
const turnBatches = 8;
let turnsAreQuick = false;

/**
 * Calls `act` if a turn of this thread's event loop is quick: a ring is polled once per turn. The first time, measures up to 32 turns, so that
 * a moment without a core decides nothing. A later call measures again if no turns were quick so far.
 */
export function ifTurnsAreQuick(act: () => void): void {
  if (turnsAreQuick) return act();
  let beganMs = clock();
  let left = turnsTogether * turnBatches;
  const turn = (): void => {
    if (--left % turnsTogether === 0) {
      const nowMs = clock();
      turnsAreQuick = (nowMs - beganMs) * 1000 < quickTurnUs * turnsTogether;
      if (turnsAreQuick) return act();
      beganMs = nowMs;
    }
    if (left > 0) afterMessages(turn);
  };
  afterMessages(turn);
}

const transferable =
  /^(MessagePort|(Readable|Writable|Transform|WebTransport(Receive|Send))Stream|ImageBitmap|OffscreenCanvas|VideoFrame|AudioData|RTCDataChannel|MediaSourceHandle)$/;

/** Returns whether structured clone can move this object, of any realm. Other functions handle buffers. */
export function isTransferable(value: object): boolean {
  return transferable.test(tagOf(value));
}

/**
 * Whether a failed post of any message may lose the objects that it moves. Without isolation, Chromium refuses shared memory only after it
 * has moved the objects of the message. The port transport then posts each frame that moves objects alone.
 */
export const losesMoved = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated === false;

const wasmPageBytes = 65_536;

/**
 * Returns whether a failed post of this object may lose other objects. The port transport posts a frame with such an object alone.
 *
 * Chromium throws on WebAssembly memory after it has moved the objects before that memory in the list.
 */
export function mayLoseOthers(object: object): boolean {
  const bytes = bufferBytes(object);
  return !!bytes && bytes % wasmPageBytes === 0;
}

// Puts buffers that may be WebAssembly memory first in the transfer list. WebAssembly memory comes in whole pages, and Chromium's
// `postMessage` throws on it. By then, Chromium has detached the objects before it in the list, and those would be lost. One loss remains,
// and it is reported with a typed error: other buffers of whole pages in the same result as WebAssembly memory. An app avoids this loss if
// it copies those buffers first.
function possibleWasmFirst(transfer: readonly object[]): Transferable[] {
  if (!transfer.some(mayLoseOthers)) return transfer as Transferable[];
  return [...transfer].sort((a, b) => +mayLoseOthers(b) - +mayLoseOthers(a)) as Transferable[];
}

/** Returns whether this buffer is known to be unmovable. Always false: browsers do not report it. The transport handles a failed post. */
export function isUntransferable(_buffer: ArrayBuffer): boolean {
  return false;
}

/** Does nothing in browsers: they throw themselves when a buffer that was moved before is posted. */
export function refuseDetached(_object: object): void {}
