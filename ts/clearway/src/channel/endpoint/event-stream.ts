// SPDX-License-Identifier: MIT OR Apache-2.0
import { OwnPromise } from "../../globals.js";
import { ReceiveCredit, type Window } from "../../stream/credit.js";
import { Reader } from "../../stream/reader.js";
import type { Budget } from "../../transport/turn-budget.js";

/**
 * The iterator of an event stream. It reads one event at a time. Leaving a `for await` loop ends the stream at the other end
 * too.
 */
export interface EventStream<T> extends AsyncIterableIterator<T, void, void>, AsyncDisposable {
  /** Total number of events that were dropped before the event read last. */
  readonly dropped: number;
  /** Ends the stream at both ends, like `break`. Never rejects. */
  return(): Promise<IteratorResult<T, void>>;
}

/** Functions that a stream needs from its owner. */
interface StreamOwner<M> {
  /** Decodes an event's message. If it throws, the stream ends with the error. */
  decode(message: M): unknown;
  /** Lets the other end send more events and bytes. */
  grant(items: number, bytes: number): void;
  /** Tells the other end that this end wants no more events. */
  cancel(): void;
  /**
   * Called when the stream has ended and no event waits. The stream does not need its signal any more. May be called more than
   * once.
   */
  done(): void;
  /** Called when an event or the stream's end is read, with the number of events dropped just before it. Never throws. */
  onDrop: ((count: number) => void) | undefined;
}

interface Kept<M> {
  readonly message: M;
  readonly bytes: number;
  readonly keptBytes: number;
  readonly dropped: number;
}

type Next = { resolve: (step: IteratorResult<unknown>) => void; reject: (reason: unknown) => void };

/** Wraps a drop listener so that it never throws. Reports the listener's errors. */
export function guarded(
  onDrop: ((count: number) => void) | undefined,
  report: (error: unknown) => void,
): ((count: number) => void) | undefined {
  if (onDrop === undefined) return undefined;
  return (count) => {
    try {
      onDrop(count);
    } catch (error) {
      report(error);
    }
  };
}

/**
 * The listener's end of a stream. Credit limits the number of events that wait here. Settles every `next`. With a
 * budget, the next event waits for the next turn of the event loop if the thread's time for streams is spent.
 */
export class Listener<M> extends Reader {
  dropped = 0;
  readonly #owner: StreamOwner<M>;
  readonly #credit: ReceiveCredit;
  readonly #turns: Budget | undefined;
  #paused = false;
  #kept: Kept<M>[] = [];
  #waitingBytes = 0;
  #asking: Next[] = [];
  /** The end of the stream. The reader receives it after all waiting events. */
  #end: { error: unknown } | { error?: never } | undefined;
  #droppedAtEnd = 0;
  /** Events dropped here since the last event that was kept. */
  #carried = 0;
  #over = false;

  constructor(owner: StreamOwner<M>, window: Window, turns?: Budget) {
    super();
    this.#turns = turns;
    this.#owner = owner;
    this.#credit = new ReceiveCredit(window);
    // Counts the initial window, which the `listen` frame grants.
    this.#credit.open();
  }

  /**
   * Adds an event of `bytes` of credit, which is charged `keptBytes` while it waits. Returns false if the other end sent the event
   * without credit.
   */
  arrived(message: M, bytes: number, dropped: number, keptBytes: number): boolean {
    if (this.#end !== undefined || this.#over) return true;
    const allowed = this.#credit.arrived(bytes);
    this.#kept.push({ message, bytes, keptBytes, dropped: dropped + this.#carried });
    this.#waitingBytes += keptBytes;
    this.#carried = 0;
    this.#settle();
    return allowed;
  }

  /** Number of events that wait to be read. */
  get waiting(): number {
    return this.#kept.length;
  }

  /** Bytes that are charged for the events that wait to be read. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Drops the oldest waiting event and counts it. */
  dropOldest(): void {
    const first = this.#take();
    if (first === undefined) return;
    const [second] = this.#kept;
    if (second) this.#kept[0] = { ...second, dropped: second.dropped + first.dropped + 1 };
    else this.#carried += first.dropped + 1;
  }

  /** Ends the stream after the waiting events, with or without an error. */
  ended(dropped: number, end: { error: unknown } | { error?: never } = {}): void {
    if (this.#end !== undefined || this.#over) return;
    this.#droppedAtEnd = dropped + this.#carried;
    this.#end = end;
    if (this.#kept.length === 0) this.#owner.done();
    this.#settle();
  }

  /**
   * Ends the stream at once with an error, and drops waiting events. Used if the signal aborts, the stream cannot start, or
   * events overflow.
   */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#dropAll();
    this.#end = { error };
    this.#owner.done();
    this.#settle();
  }

  override next(): Promise<IteratorResult<unknown>> {
    return new OwnPromise((resolve, reject) => {
      this.#asking.push({ resolve, reject });
      this.#settle();
    });
  }

  override return(value?: unknown): Promise<IteratorResult<unknown>> {
    if (!this.#over) {
      const notifyPeer = this.#end === undefined;
      this.#close();
      if (notifyPeer) this.#owner.cancel();
    }
    return OwnPromise.resolve({ done: true, value });
  }

  #settle(): void {
    while (this.#asking.length > 0) {
      if (!this.#over && this.#kept.length > 0) {
        if (this.#paused || this.#turns?.isSpent) return this.#settleLater();
        this.#give(this.#asking.shift()!, this.#take()!);
      } else if (this.#over || this.#end !== undefined) this.#finish(this.#asking.shift()!);
      else return;
    }
  }

  #settleLater(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#turns?.pause(() => {
      this.#paused = false;
      this.#settle();
    });
  }

  #give({ resolve, reject }: Next, { message, bytes, dropped }: Kept<M>): void {
    this.#count(dropped);
    let value: unknown;
    try {
      value = this.#owner.decode(message);
    } catch (error) {
      const notifyPeer = this.#end === undefined;
      this.#close();
      if (notifyPeer) this.#owner.cancel();
      return reject(error);
    }
    const grant = this.#credit.taken(bytes);
    if (grant && this.#end === undefined) this.#owner.grant(grant.items, grant.bytes);
    resolve({ done: false, value });
  }

  #finish({ resolve, reject }: Next): void {
    const end = this.#over ? {} : (this.#end ?? {});
    if (!this.#over) {
      this.#count(this.#droppedAtEnd);
      this.#close();
    }
    // An error rejects one `next`. Every later `next` returns the end.
    if ("error" in end) reject(end.error);
    else resolve({ done: true, value: undefined });
  }

  #take(): Kept<M> | undefined {
    const first = this.#kept.shift();
    this.#waitingBytes -= first?.keptBytes ?? 0;
    return first;
  }

  #dropAll(): void {
    this.#kept = [];
    this.#waitingBytes = 0;
  }

  #count(dropped: number): void {
    if (dropped === 0) return;
    this.dropped += dropped;
    this.#owner.onDrop?.(dropped);
  }

  #close(): void {
    this.#over = true;
    this.#dropAll();
    this.#owner.done();
    const asking = this.#asking.splice(0);
    for (const { resolve } of asking) resolve({ done: true, value: undefined });
  }
}
