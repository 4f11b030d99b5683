// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { Consumer } from "../stream/consumer.js";
import type { Prepared } from "./arguments.js";
import { CallLife } from "./call-life.js";
import type { Feed } from "./feed.js";
import type { CallOptions } from "./options.js";
import type { Queued } from "./queue.js";
import type { Slot } from "./slot.js";
import type { TaskRecord } from "./task-record.js";
import { after, type Timer } from "./timer.js";

/** One call as the pool sees it, from the caller's hand to its last word. */
export class PoolCall implements Queued {
  readonly life = new CallLife();
  readonly priority: number;
  readonly submittedMs: number;
  slot: Slot | undefined;
  /** Set for a stream, and for a call of which nobody knows yet whether it is one. */
  consumer: Consumer | undefined;
  feeds: Feed[] | undefined;
  /** It left for a worker once: its feeds close their iterators themselves. */
  fed = false;
  /** The stream in the caller's hand. Weak: whether the caller still has it is the question. */
  handle: WeakRef<object> | undefined;
  /** Counts among what its worker is busy with. A stream that waits for its reader does not. */
  counted = false;
  /** Asked for and not settled. */
  open = false;
  postedMs = 0;
  retriesLeft: number;
  /** The reader asked for values before the call left. */
  pendingItems = 0;
  pendingBytes = 0;
  timers: Timer[] | undefined;
  /** Of the run that is under way; another run has another. */
  runTimer: Timer | undefined;
  unlisten: (() => void) | undefined;

  constructor(
    readonly id: number,
    readonly record: TaskRecord,
    readonly prepared: Prepared,
    readonly options: CallOptions,
    readonly strict: boolean,
    /** The caller's stack, where it had to be taken at the call (see `caller-stack.ts`); else empty. */
    readonly callerStack: string,
    /** Tells the caller; called once, by `tell…` below. */
    private resolve: (value: unknown) => void,
    private reject: (reason: unknown) => void,
    submittedMs: number,
  ) {
    this.priority = options.priority ?? 0;
    this.submittedMs = submittedMs;
    this.retriesLeft = prepared.moved || prepared.feeds ? 0 : (options.retries ?? 0);
  }

  /** May have to be stopped while it runs: it runs alone in its worker's queue, and its start is told. */
  get guarded(): boolean {
    const { signal, timeoutMs, deadlineMs } = this.options;
    return (
      signal !== undefined ||
      timeoutMs !== undefined ||
      deadlineMs !== undefined ||
      this.isStream ||
      this.prepared.feeds !== undefined
    );
  }

  get isStream(): boolean {
    return this.record.kind === "stream";
  }

  /** The call succeeded. For a stream, `value` is what its generator returned. */
  tellResult(value: unknown): void {
    this.cleanUp();
    if (this.isStream) {
      this.consumer?.ended(value);
      this.tellStream();
      return;
    }
    this.resolve(value);
    this.consumer?.failed(new ClearwayError("not-a-stream", `${this.record.name}() gives one result: await it`));
  }

  /** The call failed, or was given up. */
  tellFailure(reason: unknown): void {
    this.cleanUp();
    // A promise that stands for a stream is never rejected: its reader hears of it by the iterator.
    this.consumer?.failed(reason);
    if (this.isStream) this.tellStream();
    else this.reject(reason);
  }

  /** The call turned out to be a stream: its caller's promise gives the stream itself. */
  tellStream(): void {
    this.resolve(this.handle?.deref());
    // The promise holds the stream; held on to, it would keep a forgotten stream from being collected.
    this.resolve = this.reject = () => {};
  }

  /** The reader ended what it took for a stream: nobody may be left waiting for its promise. */
  tellEnded(): void {
    this.cleanUp();
    if (this.isStream) this.tellStream();
    else this.reject(new ClearwayError("cancelled", `${this.record.name}() was ended by its reader`));
  }

  /** A call that never left gives back the streams that it was to read: a locked ReadableStream, an iterator at work. */
  releaseInputs(): void {
    if (this.fed || !this.prepared.feeds) return;
    this.fed = true;
    for (const { iterator } of this.prepared.feeds) {
      void (async () => iterator.return?.())().catch(() => {});
    }
  }

  addTimer(act: () => void, ms: number): void {
    this.timers ??= [];
    this.timers.push(after(ms, act));
  }

  /** Leaves no timer and no listener behind. */
  cleanUp(): void {
    if (this.runTimer) clearTimeout(this.runTimer);
    if (this.timers) for (const timer of this.timers) clearTimeout(timer);
    this.timers = undefined;
    this.unlisten?.();
    this.unlisten = undefined;
  }
}
