// SPDX-License-Identifier: MIT OR Apache-2.0
import { performance } from "node:perf_hooks";
import { isMainThread, Worker } from "node:worker_threads";
import { clearTimeout, OwnPromise, setTimeout, type Timer, unref } from "../../globals.js";
import { appFrames } from "../cause.js";
import type { SourceState } from "../report.js";
import { type WatchdogData, type WatchdogMessage, watchdog } from "./node-watchdog.js";

// Read once: a test may replace the clocks. The watchdog's thread shares the clock of `hrtime`.
const now: () => number = performance.now.bind(performance);
const hrtimeNs: () => bigint = process.hrtime.bigint.bind(process.hrtime);

/** The time, in ms, for which an unused watchdog continues to run. Starting one takes about 20 ms and disturbs the next measurement. */
const lingerMs = 5_000;
/** Maximum wait for the watchdog to close its inspector session when the process exits, in ms. It takes one tick, and longer on a busy machine. */
const closeMsMax = 1_000;

interface WatcherSink {
  readonly stacks: boolean;
  readonly beatMs: number;
  watcherLate(startMs: number, endMs: number): void;
  stack(atMs: number, frames: readonly string[]): void;
}

/** Returns why stacks cannot be sampled, or undefined. Without the permission, Node 20 ends the process instead of throwing an error. */
function whyNoStacks(): string | undefined {
  if (!isMainThread) return "the inspector reaches only the main thread";
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission?.has("inspector") === false ? "Node's permission model refuses the inspector" : undefined;
}

/** This thread's only watchdog. All observers share it, and the first use starts it. It never keeps the process alive. */
class NodeWatcher {
  readonly #sinks = new Set<WatcherSink>();
  readonly #shared = new Int32Array(new SharedArrayBuffer(12));
  #worker: Worker | undefined;
  #ready: Promise<void> = OwnPromise.resolve();
  #failed: string | undefined;
  #noStacks = whyNoStacks();
  #linger: Timer | undefined;
  #running = false;

  get inUse(): boolean {
    return this.#sinks.size > 0;
  }

  /** Adds a sink. Starts the watchdog, unless one runs or has failed. The sink that starts it sets the period of its ticks. */
  addSink(sink: WatcherSink, tickMs: number): void {
    clearTimeout(this.#linger);
    this.#sinks.add(sink);
    this.#updateStacksWanted();
    if (!this.#worker && this.#failed === undefined) this.#start(tickMs);
  }

  /** Settles when the watchdog runs or has failed. A pending call keeps the process alive. */
  async whenReady(): Promise<void> {
    if (this.#worker && !this.#running) this.#worker.ref();
    await this.#ready;
    this.#worker?.unref();
  }

  removeSink(sink: WatcherSink): void {
    this.#sinks.delete(sink);
    this.#updateStacksWanted();
    if (this.inUse || !this.#worker) return;
    this.#linger = setTimeout(() => {
      this.#running = false;
      const worker = this.#worker;
      this.#worker = undefined;
      process.off("exit", this.#exiting);
      void worker?.terminate();
    }, lingerMs);
    unref(this.#linger);
  }

  /** Records that the thread answered at `atMs`. Every turn of the loop calls this, so it is only one atomic store. */
  answered(atMs: number): void {
    Atomics.store(this.#shared, 0, atMs | 0);
  }

  sources(): SourceState[] {
    const watcher: SourceState = this.#running
      ? { name: "watcher", available: true }
      : { name: "watcher", available: false, why: this.#failed ?? "still starting" };
    const why = this.#noStacks ?? (this.#running ? undefined : watcher.why);
    return [
      watcher,
      why === undefined ? { name: "stacks", available: true } : { name: "stacks", available: false, why },
    ];
  }

  #updateStacksWanted(): void {
    const beatsMs = [...this.#sinks].filter((sink) => sink.stacks).map((sink) => sink.beatMs);
    const wanted = this.#noStacks === undefined && beatsMs.length > 0;
    // The shortest beat keeps all sinks in time: an idle thread answers at each of them.
    Atomics.store(this.#shared, 1, wanted ? Math.ceil(Math.min(...beatsMs)) + 10 : 0);
  }

  /** Lets the watchdog close its session. Otherwise the process says on stderr that it waits for the debugger. */
  readonly #exiting = (): void => {
    Atomics.store(this.#shared, 1, 0);
    Atomics.wait(this.#shared, 2, 1, closeMsMax);
  };

  #start(tickMs: number): void {
    const baseNs = hrtimeNs() - BigInt(Math.round(now() * 1e6));
    const workerData: WatchdogData = {
      shared: this.#shared,
      baseNs,
      tickMs,
      sampleEveryMs: 10,
      samplesMax: 40,
      framesMax: 32,
    };
    this.answered(now());
    this.#ready = new OwnPromise((resolve) => {
      const fail = (why: string): void => {
        this.#failed = why;
        this.#running = false;
        this.#worker = undefined;
        process.off("exit", this.#exiting);
        resolve();
      };
      try {
        const source = `(${watchdog.toString()})(require)`;
        const worker = new Worker(source, { eval: true, workerData, execArgv: [], env: {}, stdin: false });
        this.#worker = worker;
        worker.on("message", (message: WatchdogMessage) => {
          if (message.type === "ready") {
            this.#running = true;
            resolve();
          } else this.#handleMessage(message);
        });
        worker.on("error", (error) => fail(`the watcher thread failed: ${error.message}`));
        worker.on("exit", (code) => {
          if (this.#worker === worker) fail(`the watcher thread ended with code ${code}`);
        });
        // After the listeners, because adding a listener references the worker again.
        worker.unref();
        process.on("exit", this.#exiting);
      } catch (error) {
        fail(`no watcher thread: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  }

  #handleMessage(message: WatchdogMessage): void {
    if (message.type === "noStacks") this.#noStacks = message.why;
    for (const sink of this.#sinks) {
      if (message.type === "late") sink.watcherLate(message.startMs, message.endMs);
      else if (message.type === "stack" && sink.stacks) {
        const frames = appFrames(message.stack);
        if (frames.length > 0) sink.stack(message.atMs, frames);
      }
    }
  }
}

export const nodeWatcher: NodeWatcher = new NodeWatcher();
