// SPDX-License-Identifier: MIT OR Apache-2.0
import { inContext } from "#host";
import type { Timer } from "../lazy/timer.js";
import type { Answered } from "../placement/placer.js";
import type { LedgerSide } from "../transfer/ledger.js";
import { CallFlag } from "../transport/protocol.js";
import { CallLife } from "./call-life.js";
import type { CallStream } from "./call-stream.js";
import { rejected } from "./caller-stack.js";
import type { Input } from "./input.js";
import type { CallSettings } from "./options.js";
import type { Queued } from "./queue.js";
import type { TaskRecord } from "./task-record.js";
import type { PoolWorker } from "./worker.js";

const nothing: object[] = [];

// One function for all promises: a closure a call would cost more than the promise.
let settleLatest: ((value: unknown) => void) | undefined;
const keepSettle = (settle: (value: unknown) => void): void => {
  settleLatest = settle;
};

/** One call as the pool sees it, from the caller's hand to its last word. An object a call, always of this one shape. */
export class PoolCall extends CallLife implements Queued {
  readonly priority: number;
  /** What moves with the arguments. */
  transfer: object[] = nothing;
  /** Bytes of binary memory in the arguments, moved or copied. */
  bytes = 0;
  /** Its arguments may be nested too deep to be read. */
  deep = false;
  /** Arguments that are streams from the caller. */
  inputs: Input[] | undefined;
  /** What to enter in the ledger when it leaves; a call that never leaves crosses nothing. */
  crossing: LedgerSide | undefined;
  worker: PoolWorker | undefined;
  /** Set for a stream, and for a call of which nobody knows yet whether it is one. */
  stream: CallStream | undefined;
  /** Counts among what its worker is busy with. A stream that waits for its reader does not. */
  counted = false;
  submittedMs = 0;
  postedMs = 0;
  /** How long it ran in its worker, in microseconds; -1 where it was not answered. */
  ranUs = -1;
  /** Told the same when the call is over, for the next one's placement. */
  placed: Answered | undefined;
  /** How often it has been run in vain. */
  lostRuns = 0;
  /** For all of it. */
  deadline: Timer | undefined;
  /** For the run that is under way, or for its grace. */
  limit: Timer | undefined;
  unlisten: (() => void) | undefined;
  /** An error that was made for this call: its caller's stack may be put under its own. */
  own: unknown;
  /** Puts it there; a part that comes with the first worker. */
  stitch: ((error: unknown) => never) | undefined;
  /** Hears in the context of the call, where the host has contexts. */
  readonly onProgress: ((value: unknown) => void) | undefined;
  #settle: ((value: unknown) => void) | undefined;

  constructor(
    readonly id: number,
    readonly record: TaskRecord,
    public args: unknown[],
    readonly options: CallSettings,
    /** The caller's stack, where it had to be taken at the call (see `caller-stack.ts`); else empty. */
    readonly callerStack: string,
  ) {
    super();
    this.priority = options.priority;
    this.onProgress = options.onProgress && inContext(options.onProgress);
  }

  /** The promise that its caller gets. */
  promise(): Promise<unknown> {
    const promise = new Promise<unknown>(keepSettle);
    this.#settle = settleLatest;
    settleLatest = undefined;
    return promise;
  }

  get isStream(): boolean {
    return this.record.kind === "stream";
  }

  /** May have to be stopped while it runs: it runs alone in its worker's queue, and its start is told. */
  get guarded(): boolean {
    return this.options.limited || this.isStream || this.inputs !== undefined;
  }

  /** As the worker is told of it: `CallFlag`s. */
  get flags(): number {
    return (
      (this.guarded ? CallFlag.guarded : 0) |
      (this.options.strict ? CallFlag.strict : 0) |
      (this.onProgress ? CallFlag.progress : 0)
    );
  }

  /** Whether its arguments are still here: a copy of them left, at most. */
  get whole(): boolean {
    return this.transfer.length === 0 && !this.inputs;
  }

  /** Settles the promise, if it has one, once. A promise held on to would keep a forgotten stream from being collected. */
  settle(value: unknown): void {
    this.#settle?.(value);
    this.#settle = undefined;
  }

  fail(reason: unknown): void {
    if (this.#settle) this.settle(rejected(reason, reason === this.own ? this.stitch : undefined));
  }

  /** The call turned out to be a stream: its caller's promise gives the stream itself. */
  tellStream(): void {
    this.settle(this.stream?.handle);
  }

  /** It is over, or never was: gives the caller's streams back. */
  release(): void {
    this.placed?.(this.ranUs);
    if (this.inputs) for (const input of this.inputs) input.stop();
  }

  /** Leaves no timer and no listener behind. */
  cleanUp(): void {
    if (this.limit) clearTimeout(this.limit);
    if (this.deadline) clearTimeout(this.deadline);
    this.unlisten?.();
    this.limit = this.deadline = this.unlisten = undefined;
  }
}
