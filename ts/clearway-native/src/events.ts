// SPDX-License-Identifier: MIT OR Apache-2.0
import { abortOf, onAbort } from "./abort.js";
import { abortSignal, checked, type Rules, type Test } from "./checked.js";
import type { NativeMessage, Payload, StreamSink } from "./message.js";
import type { Port } from "./port.js";

/**
 * The policy when a stream's queue is full. With `wait`, the source waits. With `fail`, the stream ends with the error `overflow`. With
 * `dropOldest` or `dropNewest`, the oldest or the newest event is dropped.
 */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Options of a channel's `listen`. */
export interface ListenOptions {
  /** The arguments for the source. Default: null. */
  arguments?: Payload | undefined;
  /**
   * The maximum number of events that wait on the native side. The same number of events may wait on JavaScript's side. Default: 64. For
   * very frequent small events, use 1024. More events then share the cost of one batch.
   */
  items?: number | undefined;
  /**
   * The maximum number of bytes that wait on the native side. A single event may be larger. Default: 64 MiB, which has room for eight
   * frames of 1080p.
   */
  bytes?: number | undefined;
  /** The policy when the queue is full. Default: `wait`. */
  whenFull?: WhenFull | undefined;
  /**
   * Ends the stream when the signal aborts. The iterator then throws the signal's reason. If reading the signal throws, the iterator throws
   * that value.
   */
  signal?: AbortSignal | undefined;
}

/** Returns options for a queue of one event. A new event replaces the event that waits. Use these options for frames and sensors. */
export const latest = (): { items: number; whenFull: WhenFull } => ({ items: 1, whenFull: "dropOldest" });

/**
 * The events of one stream, in order. The reader owns each message. The reader must release messages that have native memory, or declare
 * them with `using`. Leaving a `for await` loop cancels the stream.
 */
export interface NativeEvents extends AsyncIterableIterator<NativeMessage, undefined, void>, AsyncDisposable {
  /** The number of events that the policy has dropped so far. */
  readonly dropped: number;
  /** Cancels the stream and releases its waiting events. */
  return(): Promise<IteratorResult<NativeMessage, undefined>>;
  /** Returns this object. It can be iterated once. */
  [Symbol.asyncIterator](): NativeEvents;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"]; // in the order of CLEARWAY_WHEN_FULL_...
const done = { value: undefined, done: true } as const;

const itemsRule: Test = (value) =>
  (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_536) || "1 to 65536";
const listenRules: Rules = {
  arguments: () => true, // `send` and `listen` check every payload
  items: itemsRule,
  bytes: (value) => (Number.isInteger(value) && Number(value) >= 1) || "a whole number, at least 1",
  whenFull: policies,
  signal: abortSignal,
};

/** The rules of the options that a service of a plugin passes on to `listen`. */
export const queueRules: Rules = { items: itemsRule, whenFull: policies };

/** A pending call of `next`. */
interface Reader {
  resolve(result: IteratorResult<NativeMessage, undefined>): void;
  reject(error: unknown): void;
}

/** Contains the error of a failed stream. The error itself may be undefined, because a signal's reason can be any value. */
interface Failure {
  readonly error: unknown;
}

/**
 * Listens to a channel's events. Throws `invalid-argument` for wrong options, and the signal's reason if the signal has aborted. If the
 * source refuses the listener, the iterator throws the error.
 */
export function listen(port: Port, channel: string, options: ListenOptions): NativeEvents {
  const settings = checked(options, listenRules);
  const { arguments: args = null, items = 64, bytes = 64 << 20, whenFull = "wait", signal } = settings;
  const policy = policies.indexOf(whenFull);
  const aborted = abortOf(signal);
  if (aborted) throw aborted.reason;
  return new Events(port, channel, { items, bytes, policy, args, signal });
}

class Events implements NativeEvents, StreamSink {
  /** Structured clone rejects a symbol. Without this property, events inside of a value would arrive as an empty object. */
  readonly "a stream crosses only as an argument, or by yield*" = Symbol("a stream");
  #dropped = 0;
  readonly #port: Port;
  readonly #stream: number;
  readonly #readers: Reader[] = [];
  /** The number of events after which the reader gives new credit. */
  readonly #batch: number;
  /** Removes the stream's callback from the signal. */
  #removeAbortListener: (() => void) | undefined;
  /** The events that wait for the reader, from the index `#head` on. */
  #queue: NativeMessage[] = [];
  #head = 0;
  /** The number of events that were read since the last credit. */
  #consumed = 0;
  #ended = false;
  /** The stream's error, until a reader has received it. */
  #failure: Failure | undefined;

  constructor(
    port: Port,
    channel: string,
    options: { items: number; bytes: number; policy: number; args: Payload; signal: AbortSignal | undefined },
  ) {
    this.#port = port;
    // Gives new credit after half of the window was read. So there are few calls to native code, and the stream never runs out of credit
    // while the reader keeps up.
    this.#batch = Math.max(1, options.items >> 1);
    this.#stream = port.listen(
      channel,
      [options.items, options.bytes, options.policy, options.items],
      options.args,
      this,
    );
    if (options.signal) this.#removeAbortListener = onAbort(options.signal, (reason) => this.#stop({ error: reason }));
  }

  get dropped(): number {
    return this.#dropped;
  }

  next(): Promise<IteratorResult<NativeMessage, undefined>> {
    const value = this.#queue[this.#head];
    if (value !== undefined) {
      this.#head++;
      // When the last event was read, empties the queue, so that the array does not grow.
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

  eventsDropped(count: number): void {
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
    this.#removeAbortListener?.();
    const [first, ...rest] = this.#readers.splice(0);
    // As in every iterator, an error rejects only the first pending call of `next`.
    if (first && failure) first.reject(failure.error);
    else {
      this.#failure = failure;
      first?.resolve(done);
    }
    for (const reader of rest) reader.resolve(done);
  }
}
