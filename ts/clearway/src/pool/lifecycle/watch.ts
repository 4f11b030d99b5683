// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearTimeout, clock, type Timer, unref } from "../../globals.js";
import { cloneMsMax } from "../../host/host.js";
import { after } from "../../lazy/lazy.js";
import { mayBeSlow } from "../../transfer/rough-bytes.js";
import { callbackEnd } from "../../transport/callback.js";
import { frameSlots, Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import type { LifecycleHost, Worker } from "./host.js";
import { type Finding, printWarning } from "./warnings.js";

// Bytes of binary memory. A copy of 1 MiB takes about a tenth of a millisecond, twice as long as a wake-up.
const copiedBytesMin = 2 ** 20;

// The interval between two looks at the queue, in milliseconds, and the number of looks in a row at which its least length must have grown.
const lookMs = 1_000;
const looksMin = 10;

// How long a call may wait for workers that all wait for callbacks, in milliseconds.
const deadlockMs = 1_000;

/** The part of a pool that the watch uses. */
export type WatchHost = Pick<LifecycleHost, "settings" | "backlog" | "records" | "workers" | "endings">;

/** Returns the watch of a pool, which has measured no worker yet. */
export function watchOf(host: LifecycleHost): Watch {
  const watch = new Watch(host);
  for (const worker of host.workers) if (worker.life.state !== "starting") watch.started(worker);
  return watch;
}

/** Notices slow use of a pool, and warns once of each kind. Loaded in development only. */
export class Watch {
  readonly #host: WatchHost;
  readonly #clock: () => number;
  readonly #warned = new Set<string>();
  #lookedMs: number | undefined;
  /** The least length of the queue since the last look, and at the look before. */
  #least = Number.POSITIVE_INFINITY;
  #leastBefore = Number.POSITIVE_INFINITY;
  /** Number of looks in a row at which the least length has grown. */
  #grown = 0;
  /** The timer that looks for a deadlock. */
  #suspicion: Timer | undefined;
  readonly #after: typeof after;

  constructor(host: WatchHost, readClock = clock, startTimer = after) {
    this.#host = host;
    this.#clock = readClock;
    this.#after = startTimer;
    host.endings.add(() => clearTimeout(this.#suspicion));
  }

  /** Called when a call waits in the queue, after the workers have taken what they can. */
  queued(): void {
    const { backlog, records } = this.#host;
    if (!records.known) return;
    this.#suspectDeadlock();
    this.#least = Math.min(this.#least, backlog.length);
    const atMs = this.#clock();
    this.#lookedMs ??= atMs;
    if (atMs - this.#lookedMs < lookMs) return;
    this.#grown = this.#least > this.#leastBefore ? this.#grown + 1 : 0;
    this.#leastBefore = this.#least;
    this.#least = Number.POSITIVE_INFINITY;
    this.#lookedMs = atMs;
    if (this.#grown >= looksMin) this.#warn({ kind: "queue", task: this.#mostWaiting, items: backlog.length });
  }

  /** Called when a call with objects among its arguments is sent. */
  sent({ crossing, record, options }: Pick<PoolCall, "crossing" | "record" | "options">): void {
    const bytes = crossing?.copies["argument-not-moved"]?.bytes ?? 0;
    // The calls of a broadcast share their arguments, so nothing can be moved.
    if (bytes >= copiedBytesMin && typeof options.key !== "symbol")
      this.#warn({ kind: "copied", task: record.name, bytes });
  }

  /** Measures how long the messages to a worker take to copy. */
  started(worker: Worker): void {
    const { handle } = worker;
    const post = handle.post.bind(handle);
    handle.post = (message, transfer) => {
      const startMs = this.#clock();
      post(message, transfer);
      const ms = this.#clock() - startMs;
      if (ms > cloneMsMax) this.#slowArguments(message as unknown[], worker, ms);
    };
  }

  /** Called when a worker reports that a result took long to copy. The worker may be hostile. */
  slowResult(task: unknown, ms: unknown): void {
    if (this.#host.records.has(task as string) && Number.isFinite(ms))
      this.#warn({ kind: "result", task: task as string, ms: ms as number });
  }

  #slowArguments(message: unknown[], worker: Worker, ms: number): void {
    for (let at = 0; at < message.length; at += frameSlots) {
      const call = message[at] === Op.Call ? worker.calls.get(message[at + 1] as number) : undefined;
      if (call?.args.some(mayBeSlow)) return this.#warn({ kind: "arguments", task: call.record.name, ms });
    }
  }

  // Two looks a second apart at the same waiting call. A callback that shows a dialog also waits long, but then no call waits for its worker.
  #suspectDeadlock(): void {
    if (this.#suspicion !== undefined || this.#warned.has("deadlock")) return;
    // The calls of one queue wait for the same workers, so its first one stands for all. This runs for each call that waits.
    const queue = this.#host.backlog.queues.find((each) => this.#askingFor(each.peek()));
    const call = queue?.peek();
    if (!queue || !call) return;
    const look = (): void => {
      this.#suspicion = undefined;
      const asking = queue.peek() === call ? this.#askingFor(call) : undefined;
      if (asking) this.#warn({ kind: "deadlock", task: call.record.name, asking });
      else this.#suspectDeadlock();
    };
    this.#suspicion = unref(this.#after(deadlockMs, look));
  }

  /** The name of a task that waits for its callback, if every worker that may take `call` is full of such tasks. */
  #askingFor(call: PoolCall | undefined): string | undefined {
    if (!call) return undefined;
    const { options } = call;
    const { settings, workers } = this.#host;
    let asking: string | undefined;
    for (let at = 0; at < settings.max; at++) {
      if (options.workerIndex >= 0 && options.workerIndex !== at) continue;
      const worker = workers.all[at];
      if (worker?.life.state !== "ready") return undefined;
      const running = [...worker.calls.values()].filter(({ counted }) => counted > 0);
      if (running.length < settings.concurrency) return undefined;
      for (const { inputs, record } of running) {
        if (!inputs?.some(({ iterator }) => callbackEnd(iterator)?.asked)) return undefined;
        asking = record.name;
      }
    }
    return asking;
  }

  get #mostWaiting(): string {
    const counts = new Map<string, number>();
    for (const { record } of this.#host.backlog.all()) counts.set(record.name, (counts.get(record.name) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
  }

  #warn(finding: Finding): void {
    if (this.#warned.has(finding.kind)) return;
    this.#warned.add(finding.kind);
    printWarning(this.#host.settings.name, finding);
  }
}
