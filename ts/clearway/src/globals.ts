// SPDX-License-Identifier: MIT OR Apache-2.0

// The globals of the host that the library needs to work: timers, clocks, microtasks, promises, channels and copies. A test may replace any
// of them, as Vitest, Jest, `node:test` and Sinon do with fake timers. The library uses them as they were when its first file was loaded,
// so its calls settle nevertheless. The check "globals" allows their direct use in this file only.

/** The handle that `setTimeout` returns, in any host. */
export type Timer = ReturnType<typeof globalThis.setTimeout>;

/** The globals as the library uses them. The library's own tests replace members, and nothing else does. */
export interface Globals {
  setTimeout(act: () => void, ms?: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setInterval(act: () => void, ms?: number): Timer;
  clearInterval(timer: Timer | undefined): void;
  /** Undefined in browsers. */
  setImmediate(act: () => void): unknown;
  queueMicrotask(act: () => void): void;
  /** Undefined outside pages. */
  requestAnimationFrame: ((act: (atMs: number) => void) => number) | undefined;
  readonly structuredClone: typeof structuredClone;
  readonly MessageChannel: typeof MessageChannel;
  /** The method of every port. */
  readonly postMessage: MessagePort["postMessage"];
  readonly AbortController: typeof AbortController;
  readonly Promise: PromiseConstructor;
  /** See `clock` below. */
  clock(): number;
  /** See `now` below. */
  now(): number;
  /** See `wallMs` below. */
  wallMs(): number;
}

const names =
  "setTimeout clearTimeout setInterval clearInterval setImmediate queueMicrotask requestAnimationFrame structuredClone MessageChannel AbortController Promise";

/** Returns the globals of this moment. */
export function captureGlobals(): Globals {
  const scope = globalThis as unknown as Record<string, unknown>;
  const found: Record<string, unknown> = {};
  for (const name of names.split(" ")) {
    const each = scope[name];
    // Browsers refuse to run functions as methods of another object. Classes have upper-case names.
    found[name] = typeof each === "function" && name > "a" ? each.bind(globalThis) : each;
  }
  const { Date: WallClock, MessagePort } = globalThis;
  found["postMessage"] = MessagePort?.prototype.postMessage;
  found["wallMs"] = WallClock.now.bind(WallClock);
  return Object.assign(found, hasProcesses ? ofNode(found) : captureClocks()) as unknown as Globals;
}

function captureClocks(): Pick<Globals, "clock" | "now"> {
  const { performance } = globalThis;
  const clock = performance.now.bind(performance);
  return { clock, now: () => performance.timeOrigin + clock() };
}

// A worker's first access to `performance` takes 0.5 to 1 ms in Node, a fortieth of the worker's start. `process.hrtime` reads the same clock,
// and takes as long per call.
function ofNode({ setImmediate }: Record<string, unknown>): Partial<Globals> {
  const { hrtime, getBuiltinModule } = process;
  const clock = (): number => {
    const [seconds, nanoseconds] = hrtime();
    return seconds * 1_000 + nanoseconds / 1e6;
  };
  let epochMs: number | undefined;
  const now = (): number => {
    if (epochMs === undefined) {
      // The module's object, because Sinon assigns another one to the global, which Node's own getter then returns.
      const { performance } = getBuiltinModule("node:perf_hooks");
      // In Bun, the function is the object's own.
      const { now = performance.now } = Object.getPrototypeOf(performance) as Partial<Performance>;
      epochMs = performance.timeOrigin + now.call(performance) - clock();
    }
    return epochMs + clock();
  };
  // Jest's environment for jsdom removes `setImmediate`.
  return { clock, now, setImmediate: (setImmediate ?? getBuiltinModule("node:timers").setImmediate) as never };
}

// The files of the build have copies of this module, and a lazy module may be loaded after a test has replaced the globals. All copies of a
// thread share the first capture.
function shared(): Globals {
  const scope = globalThis as { [name: symbol]: Globals | undefined };
  const name = Symbol.for("clearway.globals");
  scope[name] ??= captureGlobals();
  return scope[name];
}

/** The globals of this thread, shared by all files of the library. */
export const globals: Globals = /* @__PURE__ */ shared();

/** Longest time of a timer in any host, in milliseconds: 24.8 days. A longer one would fire at once. */
export const timerMsMax = 2 ** 31 - 1;
export const setTimeout = (act: () => void, ms?: number): Timer => globals.setTimeout(act, ms);
export const clearTimeout = (timer: Timer | undefined): void => globals.clearTimeout(timer);
export const setInterval = (act: () => void, ms?: number): Timer => globals.setInterval(act, ms);
export const clearInterval = (timer: Timer | undefined): void => globals.clearInterval(timer);
/** Exists in Node only. */
export const setImmediate = (act: () => void): unknown => globals.setImmediate(act);
export const queueMicrotask = (act: () => void): void => globals.queueMicrotask(act);
export const structuredClone = <Value>(value: Value, options?: StructuredSerializeOptions): Value =>
  globals.structuredClone(value, options);
// WebKit has neither symbol. Compilers of `using` then take the same names from the registry.
const symbolOf = (name: "dispose" | "asyncDispose"): symbol => Symbol[name] ?? Symbol.for(`Symbol.${name}`);
export const dispose: typeof Symbol.dispose = /* @__PURE__ */ symbolOf("dispose") as never;
export const asyncDispose: typeof Symbol.asyncDispose = /* @__PURE__ */ symbolOf("asyncDispose") as never;

/** `Promise` as a value. Its name differs from the global's, because the global's is also a type. */
export const OwnPromise: PromiseConstructor = /* @__PURE__ */ (() => globals.Promise)();

export const newMessageChannel = (): MessageChannel => new globals.MessageChannel();
/** Posts to a port of {@link newMessageChannel}, also after a task has replaced the method of all ports. */
export const postTo = (port: MessagePort, message: unknown, transfer: readonly object[] = []): void =>
  globals.postMessage.call(port, message, transfer as never);
export const newAbortController = (): AbortController => new globals.AbortController();

/** Returns the time of a monotonic clock in milliseconds. Compare only times of the same thread. */
export const clock = (): number => globals.clock();

/**
 * Returns the time since the epoch in milliseconds, with the resolution of the monotonic clock. Times of different threads are comparable.
 * A change of the machine's clock does not change it.
 */
export const now = (): number => globals.now();

/** Returns the time of the machine's clock, in milliseconds since the epoch. It may jump, so nothing waits by it. */
export const wallMs = (): number => globals.wallMs();

/** Lets the process end although a timer, or another handle of Node, waits. Does nothing where handles have no such method. */
export function unref<Handle>(handle: Handle): Handle {
  (handle as { unref?(): void } | undefined)?.unref?.();
  return handle;
}
