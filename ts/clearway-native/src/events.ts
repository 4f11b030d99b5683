// SPDX-License-Identifier: MIT OR Apache-2.0
import { abortOf, checkSignal, onAbort } from "./abort.js";
import { invalid } from "./error.js";
import type { NativeMessage } from "./message.js";
import type { Payload } from "./payload.js";
import type { Port, StreamSink } from "./port.js";

/** The policy of a full queue: the source waits, the stream fails, or the oldest or newest event is dropped. */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Options of a channel's `listen`. */
export interface ListenOptions {
  /** Arguments for the source. Default: null. */
  arguments?: Payload;
  /**
   * The maximum number of events that wait on the native side. As many again may wait on JavaScript's side. Default: 64. Use 1024 for
   * very frequent small events, because more events then share the cost of a batch.
   */
  items?: number;
  /**
   * The maximum number of bytes that wait on the native side. A single event may be larger. Default: 64 MiB, which is eight frames of
   * 1080p.
   */
  bytes?: number;
  /** The policy of a full queue. Default: `wait`. */
  whenFull?: WhenFull;
  /** Ends the stream. The iterator throws the signal's reason, or what the signal threw. */
  signal?: AbortSignal;
}

/** Returns options that keep only the newest event: a new event replaces the waiting one. Use them for frames and sensors. */
export const latest = (): { items: number; whenFull: WhenFull } => ({ items: 1, whenFull: "dropOldest" });

/**
 * Events of a plugin, in order. The reader owns each message. It must release messages with native memory, or declare them with `using`.
 * Leaving the loop cancels the source.
 */
export interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
  /** The number of events dropped so far by the chosen policy. */
  readonly dropped: number;
  /** Cancels the source and releases waiting events. */
  return(): Promise<IteratorResult<NativeMessage, undefined>>;
  /** Returns the stream itself, which can be iterated once. */
  [Symbol.asyncIterator](): NativeEvents;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"]; // the order of CLEARWAY_WHEN_FULL_...
const done = { value: undefined, done: true } as const;

interface Reader {
  resolve(result: IteratorResult<NativeMessage, undefined>): void;
  reject(error: unknown): void;
}

/** How a stream fails. The error may be undefined: a signal's reason can be anything. */
interface Failure {
  readonly error: unknown;
}

/** Listens to a channel's events. Throws `invalid-argument` for wrong options. Refusals by the source are thrown by the iterator. */
export function listen(port: Port, channel: string, options: ListenOptions): NativeEvents {
  const { items = 64, bytes = 64 << 20, whenFull = "wait", signal } = options;
  if (!(Number.isInteger(items) && items >= 1 && items <= 65_536)) throw invalid("items", "1 to 65536", items);
  if (!(Number.isInteger(bytes) && bytes >= 1)) throw invalid("bytes", "a whole number, at least 1", bytes);
  const policy = policies.indexOf(whenFull);
  if (policy < 0) throw invalid("whenFull", `one of ${policies.join(", ")}`, whenFull);
  checkSignal(signal);
  const aborted = abortOf(signal);
  if (aborted) throw aborted.reason;
  return new Events(port, channel, { items, bytes, policy, given: options.arguments ?? null, signal });
}

class Events implements NativeEvents, StreamSink {
  #dropped = 0;
  readonly #port: Port;
  readonly #stream: number;
  readonly #readers: Reader[] = [];
  readonly #batch: number;
  /** Removes the stream's listener from the signal. */
  #deaf: (() => void) | undefined;
  #queue: NativeMessage[] = [];
  #head = 0;
  #consumed = 0;
  #ended = false;
  /** An error that no reader has received yet. */
  #failure: Failure | undefined;

  constructor(
    port: Port,
    channel: string,
    at: { items: number; bytes: number; policy: number; given: Payload; signal: AbortSignal | undefined },
  ) {
    this.#port = port;
    // Credit is returned in halves of the window. The source is then called rarely, and never stops for lack of credit.
    this.#batch = Math.max(1, at.items >> 1);
    this.#stream = port.listen(channel, [at.items, at.bytes, at.policy, at.items], at.given, this);
    if (at.signal) this.#deaf = onAbort(at.signal, (reason) => this.#stop({ error: reason }));
  }

  get dropped(): number {
    return this.#dropped;
  }

  next(): Promise<IteratorResult<NativeMessage, undefined>> {
    const value = this.#queue[this.#head];
    if (value !== undefined) {
      this.#head++;
      // A fully read queue is emptied at once.
      if (this.#head === this.#queue.length) {
        this.#queue.length = 0;
        this.#head = 0;
      }
      this.#consume();
      return Promise.resolve({ value, done: false });
    }
    if (this.#ended) {
      const failure = this.#failure;
      this.#failure = undefined;
      return failure === undefined ? Promise.resolve(done) : Promise.reject(failure.error);
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
    this.#finish(error === undefined ? undefined : { error });
  }

  #consume(): void {
    this.#consumed++;
    if (this.#consumed < this.#batch) return;
    this.#port.grant(this.#stream, this.#consumed);
    this.#consumed = 0;
  }

  #stop(failure?: Failure): void {
    this.#drop();
    this.#finish(failure);
    this.#port.unlisten(this.#stream);
  }

  #drop(): void {
    for (const message of this.#queue.splice(0).slice(this.#head)) message.release();
    this.#head = 0;
  }

  #finish(failure: Failure | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deaf?.();
    const [first, ...rest] = this.#readers.splice(0);
    // An error rejects the first waiting reader, and only that one, as in any iterator.
    if (first && failure) first.reject(failure.error);
    else {
      this.#failure = failure;
      first?.resolve(done);
    }
    for (const reader of rest) reader.resolve(done);
  }
}
