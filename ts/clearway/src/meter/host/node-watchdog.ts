// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Session } from "node:inspector";

/** The data that the watchdog's thread receives at its start. */
export interface WatchdogData {
  /**
   * `[0]`: the time of the watched thread's last answer, in whole ms since `baseNs`. `[1]`: the time without an answer after which the
   * watchdog samples the stack, in ms; 0 if no observer wants the thread's stacks. `[2]`: 1 while an inspector session is open, or opens.
   */
  readonly shared: Int32Array;
  /** `process.hrtime` at the zero of the watched thread's clock, in nanoseconds. All threads share this clock. */
  readonly baseNs: bigint;
  readonly tickMs: number;
  readonly sampleEveryMs: number;
  readonly samplesMax: number;
  readonly framesMax: number;
}

export type WatchdogMessage =
  | { readonly type: "ready" }
  | { readonly type: "late"; readonly startMs: number; readonly endMs: number }
  | { readonly type: "stack"; readonly atMs: number; readonly stack: string }
  | { readonly type: "noStacks"; readonly why: string };

/**
 * Runs in the watchdog's thread. The thread does nothing but tick, so a late tick shows that it got no core. The watchdog can observe the
 * watched thread while that thread cannot answer.
 *
 * To sample a stack, the watchdog evaluates an expression through an inspector session. V8 interrupts running JavaScript (and
 * `Atomics.wait`) and runs the expression on top of the blocked stack. The expression's own stack trace therefore shows that stack. The
 * watchdog enables no debugger and starts no profiler, because both would slow down the watched app. During a long native call that does
 * not return to JavaScript, V8 delays the expression until the call returns.
 *
 * The session is open only while the thread is blocked. At its end, the process would wait for an open session.
 *
 * The function runs from its own source text in another thread, so it must not use anything from outside. Its inner functions are
 * methods, because bundlers that keep names wrap other named functions in a helper. That thread would not have the helper.
 */
export function watchdog(requireModule: (name: string) => unknown): void {
  const threads = requireModule("node:worker_threads") as typeof import("node:worker_threads");
  const data = threads.workerData as WatchdogData;
  const port = threads.parentPort!;
  // In milliseconds. A tick is up to 1 ms late because of the timers' granularity, and a little later on a busy but healthy machine.
  const lateMsMin = 2.5;
  const expression = `(() => { const limit = Error.stackTraceLimit, prepare = Error.prepareStackTrace;
    try { Error.stackTraceLimit = ${data.framesMax}; Error.prepareStackTrace = undefined; return new Error().stack; }
    finally { Error.stackTraceLimit = limit; Error.prepareStackTrace = prepare; } })()`;

  let session: Session | undefined;
  let sampling = false;
  let failed = false;
  let stalledSince = -1;
  let samples = 0;
  let nextSampleMs = 0;
  let dueMs = 0;

  const dog = {
    now(): number {
      return Number(process.hrtime.bigint() - data.baseNs) / 1e6;
    },
    post(message: WatchdogMessage): void {
      port.postMessage(message);
    },
    giveUp(error: unknown): void {
      failed = true;
      dog.post({ type: "noStacks", why: `no inspector session: ${error instanceof Error ? error.message : error}` });
    },
    connect(): Session | undefined {
      try {
        const inspector = requireModule("node:inspector") as typeof import("node:inspector");
        const opened = new inspector.Session();
        opened.connectToMainThread();
        return opened;
      } catch (error) {
        dog.giveUp(error);
        return undefined;
      }
    },
    sampleStack(atMs: number): void {
      // Before the session opens, so that the watched thread waits for its end if it exits now.
      Atomics.store(data.shared, 2, 1);
      if (Atomics.load(data.shared, 1) > 0) session ??= dog.connect();
      if (!session) return dog.noSession();
      sampling = true;
      samples++;
      // The interval between samples grows, because the first samples usually explain a long stall.
      nextSampleMs = atMs + data.sampleEveryMs * Math.max(1, samples >> 2);
      session.post("Runtime.evaluate", { expression, silent: true, returnByValue: true }, (error, answer) => {
        sampling = false;
        if (error) dog.giveUp(error);
        else if (typeof answer.result.value === "string")
          dog.post({ type: "stack", atMs: dog.now(), stack: answer.result.value });
      });
    },
    closeSession(): void {
      if (!session || sampling) return;
      session.disconnect();
      session = undefined;
      dog.noSession();
    },
    noSession(): void {
      Atomics.store(data.shared, 2, 0);
      Atomics.notify(data.shared, 2);
    },
    tick(): void {
      const atMs = dog.now();
      const lateMs = atMs - dueMs;
      if (lateMs > lateMsMin) dog.post({ type: "late", startMs: dueMs, endMs: atMs });
      const answeredMs = Atomics.load(data.shared, 0);
      const sampleAfterMs = failed ? 0 : Atomics.load(data.shared, 1);
      // The shared time has 32 bits, and wraps after 25 days. So does this difference.
      if (sampleAfterMs === 0 || ((atMs - answeredMs) | 0) <= sampleAfterMs) dog.closeSession();
      else if (lateMs <= lateMsMin) {
        if (stalledSince !== answeredMs) {
          stalledSince = answeredMs;
          samples = 0;
          nextSampleMs = 0;
        }
        if (!sampling && samples < data.samplesMax && atMs >= nextSampleMs) dog.sampleStack(atMs);
      }
      dueMs = dog.now() + data.tickMs;
      setTimeout(() => dog.tick(), data.tickMs);
    },
  };
  dueMs = dog.now() + data.tickMs;
  setTimeout(() => dog.tick(), data.tickMs);
  dog.post({ type: "ready" });
}
