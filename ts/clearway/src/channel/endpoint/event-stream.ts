// SPDX-License-Identifier: MIT OR Apache-2.0
import { ReceiveCredit, type Window } from "../../stream/credit.js";
import { Reader } from "../../stream/reader.js";

/** Values of a stream of events, each when it is asked for. Ending the loop ends the stream at the other end. */
export interface EventStream<T> extends AsyncIterableIterator<T, void, void>, AsyncDisposable {
  /** How many events were dropped so far, before the one that was read last. */
  readonly dropped: number;
  /** Ends it, there too: what `break` does. Never rejects. */
  return(): Promise<IteratorResult<T, void>>;
}

/** What a stream asks of whoever made it. */
export interface StreamOwner<M> {
  /** Reads an event's message. What it throws ends the stream. */
  decode(message: M): unknown;
  /** Lets the other end send more. */
  grant(items: number, bytes: number): void;
  /** This end does not want any more. Settles when the other end has been told. */
  cancel(): void;
  /** It has ended, and nothing waits to be read: there is nothing left that could be cancelled. May be called more than once. */
  done(): void;
  /** So many events were dropped before the next. Never throws. */
  onDrop: ((count: number) => void) | undefined;
}

interface Kept<M> {
  readonly message: M;
  readonly bytes: number;
  readonly dropped: number;
}

type Next = { resolve: (step: IteratorResult<unknown>) => void; reject: (reason: unknown) => void };

/** A listener for drops that never throws: what it throws is reported. */
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

/** The listener's end of a stream: bounded by the credit that it gives. Settles every `next`. */
export class Listener<M> extends Reader {
  dropped = 0;
  readonly #owner: StreamOwner<M>;
  readonly #credit: ReceiveCredit;
  #kept: Kept<M>[] = [];
  #asking: Next[] = [];
  /** How it ends when all was read. */
  #end: { error: unknown } | { error?: never } | undefined;
  #droppedAtEnd = 0;
  /** Dropped here since the event that was kept last. */
  #carried = 0;
  #over = false;

  constructor(owner: StreamOwner<M>, window: Window) {
    super();
    this.#owner = owner;
    this.#credit = new ReceiveCredit(window);
    // What the `listen` itself grants.
    this.#credit.open();
  }

  /** An event came. False when the other end had no credit for it. */
  arrived(message: M, bytes: number, dropped: number): boolean {
    if (this.#end !== undefined || this.#over) return true;
    const allowed = this.#credit.arrived(bytes);
    this.#kept.push({ message, bytes, dropped: dropped + this.#carried });
    this.#carried = 0;
    this.#settle();
    return allowed;
  }

  /** How many events wait to be read. */
  get waiting(): number {
    return this.#kept.length;
  }

  /** Drops the oldest event that waits, and counts it. */
  dropOldest(): void {
    const [first, second] = this.#kept;
    if (first === undefined) return;
    this.#kept.shift();
    if (second) this.#kept[0] = { ...second, dropped: second.dropped + first.dropped + 1 };
    else this.#carried += first.dropped + 1;
  }

  /** The stream ended, after what came; with an error, or without. */
  ended(dropped: number, end: { error: unknown } | { error?: never } = {}): void {
    if (this.#end !== undefined || this.#over) return;
    this.#droppedAtEnd = dropped + this.#carried;
    this.#end = end;
    if (this.#kept.length === 0) this.#owner.done();
    this.#settle();
  }

  /** Ends at once, and forgets what was not read: the signal, the deadline, the transport's end. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#kept = [];
    this.#end = { error };
    this.#owner.done();
    this.#settle();
  }

  override next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      this.#asking.push({ resolve, reject });
      this.#settle();
    });
  }

  override return(value?: unknown): Promise<IteratorResult<unknown>> {
    if (!this.#over) {
      const toTell = this.#end === undefined;
      this.#close();
      if (toTell) this.#owner.cancel();
    }
    return Promise.resolve({ done: true, value });
  }

  #settle(): void {
    while (this.#asking.length > 0) {
      const kept = this.#over ? undefined : this.#kept.shift();
      if (kept !== undefined) this.#give(this.#asking.shift()!, kept);
      else if (this.#over || this.#end !== undefined) this.#finish(this.#asking.shift()!);
      else return;
    }
  }

  #give({ resolve, reject }: Next, { message, bytes, dropped }: Kept<M>): void {
    this.#count(dropped);
    let value: unknown;
    try {
      value = this.#owner.decode(message);
    } catch (error) {
      const toTell = this.#end === undefined;
      this.#close();
      if (toTell) this.#owner.cancel();
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
    // An error is told once; whoever asks again finds the stream at its end.
    if ("error" in end) reject(end.error);
    else resolve({ done: true, value: undefined });
  }

  #count(dropped: number): void {
    if (dropped === 0) return;
    this.dropped += dropped;
    this.#owner.onDrop?.(dropped);
  }

  #close(): void {
    this.#over = true;
    this.#kept = [];
    this.#owner.done();
    const asking = this.#asking.splice(0);
    for (const { resolve } of asking) resolve({ done: true, value: undefined });
  }
}
