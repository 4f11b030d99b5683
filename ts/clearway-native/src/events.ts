// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "./abort.js";
import { invalid } from "./error.js";
import type { NativeMessage } from "./message.js";
import type { Payload } from "./payload.js";
import type { Port, StreamSink } from "./port.js";

/** What is lost when events come faster than they are read: nothing (the source waits), the stream, the oldest, the newest. */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

export interface ListenOptions {
  /** What the source is told. Default null. */
  arguments?: Payload;
  /**
   * How many events may wait on the native side, and as many again on JavaScript's. Default 64. For a firehose of small
   * events 1024: what a batch costs is shared by more of them.
   */
  items?: number;
  /** How many bytes may wait on the native side. One event that is larger may. Default 64 MiB: eight frames of 1080p. */
  bytes?: number;
  /** Default `wait`. */
  whenFull?: WhenFull;
  /** Ends the stream; the iterator throws the signal's reason. */
  signal?: AbortSignal;
}

/** Only the newest event: what waits is dropped for what comes. For frames and sensors. */
export const latest = (): { items: number; whenFull: WhenFull } => ({ items: 1, whenFull: "dropOldest" });

/**
 * Events of a plugin, in order. Whoever reads owns what comes: release each message that has native memory, or have it done
 * by `using`. Leaving the loop cancels the source.
 */
export interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
  /** How many events were dropped so far, by the policy that was asked for. */
  readonly dropped: number;
  /** Cancels the source; what waits is released. */
  return(): Promise<IteratorResult<NativeMessage, undefined>>;
  [Symbol.asyncIterator](): NativeEvents;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"]; // CLEARWAY_WHEN_FULL_... in order
const done = { value: undefined, done: true } as const;

interface Reader {
  resolve(result: IteratorResult<NativeMessage, undefined>): void;
  reject(error: unknown): void;
}

/** Listens. Throws what is wrong with the options; what the source refuses, the iterator throws. */
export function listen(port: Port, channel: string, options: ListenOptions): NativeEvents {
  const { items = 64, bytes = 64 << 20, whenFull = "wait", signal } = options;
  if (!(Number.isInteger(items) && items >= 1 && items <= 65_536)) throw invalid("items", "1 to 65536", items);
  if (!(Number.isInteger(bytes) && bytes >= 1)) throw invalid("bytes", "a whole number, at least 1", bytes);
  const policy = policies.indexOf(whenFull);
  if (policy < 0) throw invalid("whenFull", `one of ${policies.join(", ")}`, whenFull);
  signal?.throwIfAborted();
  return new Events(port, channel, { items, bytes, policy, given: options.arguments ?? null, signal });
}

class Events implements NativeEvents, StreamSink {
  #dropped = 0;
  readonly #port: Port;
  readonly #stream: number;
  readonly #readers: Reader[] = [];
  readonly #batch: number;
  readonly #signal: AbortSignal | undefined;
  /** Ends the listening to the signal. */
  #deaf: (() => void) | undefined;
  #queue: NativeMessage[] = [];
  #head = 0;
  #consumed = 0;
  #ended = false;
  #error: unknown;

  constructor(
    port: Port,
    channel: string,
    at: { items: number; bytes: number; policy: number; given: Payload; signal: AbortSignal | undefined },
  ) {
    this.#port = port;
    // Credit goes back in halves of the window: the source is asked seldom, and never has to stop for want of it.
    this.#batch = Math.max(1, at.items >> 1);
    this.#stream = port.listen(channel, [at.items, at.bytes, at.policy, at.items], at.given, this);
    this.#signal = at.signal;
    if (at.signal) this.#deaf = onAbort(at.signal, this.#abort);
  }

  get dropped(): number {
    return this.#dropped;
  }

  next(): Promise<IteratorResult<NativeMessage, undefined>> {
    const value = this.#queue[this.#head];
    if (value !== undefined) {
      this.#head++;
      // Emptied in one go; a queue that is never empty is cut when half of it is read.
      if (this.#head === this.#queue.length) {
        this.#queue.length = 0;
        this.#head = 0;
      }
      this.#consume();
      return Promise.resolve({ value, done: false });
    }
    if (this.#ended) {
      const error = this.#error;
      this.#error = undefined;
      return error === undefined ? Promise.resolve(done) : Promise.reject(error);
    }
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<NativeMessage, undefined>> {
    this.#stop();
    return Promise.resolve(done);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
  }

  event(message: NativeMessage): void {
    const reader = this.#readers.shift();
    if (!reader) {
      this.#queue.push(message);
      return;
    }
    this.#consume();
    reader.resolve({ value: message, done: false });
  }

  lost(count: number): void {
    this.#dropped += count;
  }

  end(error: unknown): void {
    this.#finish(error);
  }

  #consume(): void {
    this.#consumed++;
    if (this.#consumed < this.#batch) return;
    this.#port.grant(this.#stream, this.#consumed);
    this.#consumed = 0;
  }

  readonly #abort = (): void => {
    this.#drop();
    this.#finish(this.#signal?.reason);
    this.#port.unlisten(this.#stream);
  };

  #stop(): void {
    this.#drop();
    this.#finish(undefined);
    this.#port.unlisten(this.#stream);
  }

  #drop(): void {
    for (const message of this.#queue.splice(0).slice(this.#head)) message.release();
    this.#head = 0;
  }

  #finish(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deaf?.();
    const [first, ...rest] = this.#readers.splice(0);
    // The first who waits hears of the error; it is said once, as in any iterator.
    if (first && error !== undefined) first.reject(error);
    else {
      this.#error = error;
      first?.resolve(done);
    }
    for (const reader of rest) reader.resolve(done);
  }
}
