// SPDX-License-Identifier: MIT OR Apache-2.0
import { warn } from "#host";
import { clearTimeout, clock, type Timer, unref } from "../../globals.js";
import { cloneMsMax } from "../../host/host.js";
import { after } from "../../lazy/lazy.js";
import { mayBeSlow } from "../../transfer/uncloneable.js";
import { callbackEnd } from "../../transport/callback.js";
import { frameSlots, Op } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import type { Engine } from "../engine.js";
import type { PoolWorker } from "../worker/worker.js";

// Bytes of binary memory. A copy of 1 MiB takes about a tenth of a millisecond, twice as long as a wake-up.
const copiedBytesMin = 2 ** 20;

// The interval between two looks at the queue, in milliseconds, and the number of looks in a row at which its least length must have grown.
const lookMs = 1_000;
const looksMin = 10;

// How long a call may wait for workers that all wait for callbacks, in milliseconds.
const deadlockMs = 1_000;

/** Returns the watch of a pool, which has measured no worker yet. */
export function watchOf(engine: Engine): Watch {
  const watch = new Watch(engine);
  for (const worker of engine.workers) if (worker.life.state !== "starting") watch.started(worker);
  return watch;
}

/** Notices slow use of a pool, and warns once of each kind. Loaded in development only. */
export class Watch {
  readonly #engine: Engine;
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
  readonly #print: typeof printWarning;

  constructor(engine: Engine, readClock = clock, startTimer = after, print = printWarning) {
    this.#engine = engine;
    this.#clock = readClock;
    this.#after = startTimer;
    this.#print = print;
    engine.endings.add(() => clearTimeout(this.#suspicion));
  }

  /** Called when a call waits in the queue, after the workers have taken what they can. */
  queued(): void {
    const { backlog, tasks } = this.#engine;
    if (!tasks.known) return;
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
  sent({ crossing, task, options }: Pick<PoolCall, "crossing" | "task" | "options">): void {
    const bytes = crossing?.copies["argument-not-moved"]?.bytes ?? 0;
    // The calls of a broadcast share their arguments, so nothing can be moved.
    if (bytes >= copiedBytesMin && typeof options.key !== "symbol")
      this.#warn({ kind: "copied", task: task.name, bytes });
  }

  /** Measures how long the messages to a worker take to copy. */
  started(worker: PoolWorker): void {
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
    if (this.#engine.tasks.has(task as string) && Number.isFinite(ms))
      this.#warn({ kind: "result", task: task as string, ms: ms as number });
  }

  #slowArguments(message: unknown[], worker: PoolWorker, ms: number): void {
    for (let at = 0; at < message.length; at += frameSlots) {
      const call = message[at] === Op.Call ? worker.calls.get(message[at + 1] as number) : undefined;
      if (call?.args.some(mayBeSlow)) return this.#warn({ kind: "arguments", task: call.task.name, ms });
    }
  }

  // Two looks a second apart at the same waiting call. A callback that shows a dialog also waits long, but then no call waits for its worker.
  #suspectDeadlock(): void {
    if (this.#suspicion !== undefined || this.#warned.has("deadlock")) return;
    // The calls of one queue wait for the same workers, so its first one stands for all. This runs for each call that waits.
    const queue = this.#engine.backlog.queues.find((each) => this.#askingFor(each.peek()));
    const call = queue?.peek();
    if (!queue || !call) return;
    const look = (): void => {
      this.#suspicion = undefined;
      const asking = queue.peek() === call ? this.#askingFor(call) : undefined;
      if (asking) this.#warn({ kind: "deadlock", task: call.task.name, asking });
      else this.#suspectDeadlock();
    };
    this.#suspicion = unref(this.#after(deadlockMs, look));
  }

  /** The name of a task that waits for its callback, if every worker that may take `call` is full of such tasks. */
  #askingFor(call: PoolCall | undefined): string | undefined {
    if (!call) return undefined;
    const { options } = call;
    const { settings, workers } = this.#engine;
    let asking: string | undefined;
    for (let at = 0; at < settings.max; at++) {
      if (options.workerIndex >= 0 && options.workerIndex !== at) continue;
      const worker = workers.all[at];
      if (worker?.life.state !== "ready") return undefined;
      const running = [...worker.calls.values()].filter(({ counted }) => counted > 0);
      if (running.length < settings.concurrency) return undefined;
      for (const { inputs, task } of running) {
        if (!inputs?.some(({ iterator }) => callbackEnd(iterator)?.asked)) return undefined;
        asking = task.name;
      }
    }
    return asking;
  }

  get #mostWaiting(): string {
    const counts = new Map<string, number>();
    for (const { task } of this.#engine.backlog.all()) counts.set(task.name, (counts.get(task.name) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
  }

  #warn(finding: Finding): void {
    if (this.#warned.has(finding.kind)) return;
    this.#warned.add(finding.kind);
    this.#print(this.#engine.settings.name, finding);
  }
}

/** What a pool has noticed about its use. */
export type Finding =
  | { readonly kind: "result" | "arguments"; readonly task: string; readonly ms: number }
  | { readonly kind: "queue"; readonly task: string; readonly items: number }
  | { readonly kind: "copied"; readonly task: string; readonly bytes: number }
  | { readonly kind: "deadlock"; readonly task: string; readonly asking: string };

const codes = {
  result: "CLEARWAY_SLOW_COPY",
  arguments: "CLEARWAY_SLOW_COPY",
  queue: "CLEARWAY_QUEUE_GROWS",
  copied: "CLEARWAY_ARGUMENT_COPIED",
  deadlock: "CLEARWAY_DEADLOCK",
} as const;

/** Prints a warning: the task, the figure and what to do. */
function printWarning(pool: string, finding: Finding): void {
  const silence = `The pool "${pool}" says this once; its option { warnings: false } turns it off`;
  warn(`${textOf(finding)} ${silence}. See docs/guide.md#warnings of Clearway.`, codes[finding.kind]);
}

function textOf(finding: Finding): string {
  const { task } = finding;
  switch (finding.kind) {
    case "result":
      return (
        `The result of ${task}() took ${Math.round(finding.ms)} ms to copy in the worker, and about as long here again. Return a table of ` +
        "records, a typed array, or a stream (docs/records.md)."
      );
    case "arguments":
      return (
        `The arguments of ${task}() took ${Math.round(finding.ms)} ms to copy on this thread. Pass a table of records, a typed array under ` +
        "move(), or a stream (docs/records.md)."
      );
    case "queue":
      return (
        `The queue grows without a pause: ${finding.items} calls wait, most of them of ${task}(). Calls come faster than the workers ` +
        "run them. Await pool.room() before each call, use pool.map, or set queue.whenFull or a larger size."
      );
    case "copied":
      return (
        `An argument of ${task}() was copied: ${(finding.bytes / 2 ** 20).toFixed(1)} MiB of binary memory. If the caller does not need ` +
        `it any more, move it: ${task}(move(value)).`
      );
    case "deadlock":
      return (
        `A call of ${task}() has waited for a second for a worker that waits for a callback of ${finding.asking}(). If that callback awaits ` +
        "this call, both wait for ever. Give the pool a larger size, or a concurrency of at least 2."
      );
  }
}
