// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages, takeMessage } from "#host";
import { ClearwayError, define } from "../../error/clearway-error.js";
import { clearTimeout, clock, OwnPromise, setTimeout, type Timer } from "../../globals.js";
import { type Budget, turnBudget } from "../turn-budget.js";
import { Fill, nodesPerMsMax } from "./piece.js";

// Time in milliseconds without a piece after which the reader gives up, although the worker said that all pieces are posted.
const silenceMs = 30_000;
// Maximum number of values in one message: what the fastest reader takes in several times `pieceMs`.
const valuesMax = nodesPerMsMax * 8;

/** Reads the pieces of a value, with turns of the event loop between them, and makes the value of them. */
export class Assembly {
  /** The value. Rejects with `protocol` if the pieces do not fit together, and never after `close()`. */
  readonly value: Promise<unknown>;
  readonly #budget: Budget;
  readonly #now: () => number;
  #port: MessagePort;
  readonly #out: unknown[] = [];
  #table: object[] = [this.#out];
  #pieces = 0;
  #expected = Number.POSITIVE_INFINITY;
  #silence: Timer | undefined;
  #isOver = false;
  #hasFailed = false;
  #nodes = 0;
  #ms = 0;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;

  /** Reads from `port`, which this object owns from now on. */
  constructor(port: MessagePort, budget: Budget = turnBudget, readClock = clock) {
    this.#port = port;
    this.#budget = budget;
    this.#now = readClock;
    this.value = new OwnPromise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The value may be dropped before it has a reader.
    this.value.catch(() => {});
    this.#pull();
  }

  /** Nodes that this thread has received in a millisecond. Undefined if nothing was measured. */
  get nodesPerMs(): number | undefined {
    return this.#ms > 0 && this.#nodes > 0 ? this.#nodes / this.#ms : undefined;
  }

  /**
   * Records the number of pieces, all of which are posted now. Returns false if it cannot be their number. After a piece that could not be
   * used, no number is wrong: the value rejects, whether that piece is read before this call or after it.
   */
  expect(pieces: number): boolean {
    this.#expected = pieces;
    if (this.#isOver) return this.#hasFailed || this.#pieces === pieces;
    this.#awaitPiece();
    return this.#pieces < pieces;
  }

  /** Drops the value. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#silence);
    this.#port.onmessage = this.#port.onmessageerror = null;
    this.#port.close();
    this.#table = [];
  }

  #fail(reason: unknown): void {
    this.#hasFailed = true;
    this.close();
    this.#reject(reason);
  }

  // Takes the pieces that have arrived, as long as the turn has time for them.
  readonly #pull = (): void => {
    while (!this.#isOver) {
      if (this.#budget.isSpent) return this.#budget.pause(this.#pull);
      const startMs = this.#now();
      let taken: { message: unknown } | undefined;
      try {
        taken = takeMessage(this.#port);
      } catch {
        return this.#fail(unreadable());
      }
      if (!taken) return this.#listen();
      const { message } = taken;
      this.#take(() => message, startMs);
    }
  };

  #listen(): void {
    const port = this.#port;
    port.onmessageerror = () => this.#fail(unreadable());
    port.onmessage = (event) => {
      port.onmessage = null;
      // Starts the time of this turn.
      void this.#budget.isSpent;
      // A browser copies the message when it is read.
      this.#take(() => event.data, this.#now());
      this.#pull();
    };
    if (this.#expected < Number.POSITIVE_INFINITY) this.#awaitPiece();
  }

  #awaitPiece(): void {
    clearTimeout(this.#silence);
    const pieces = this.#pieces;
    // After a sleep of the machine, a timer may run before the messages.
    this.#silence = setTimeout(
      () =>
        afterMessages(() => {
          if (!this.#isOver && this.#pieces === pieces) this.#fail(unfit());
        }),
      silenceMs,
    );
  }

  #take(read: () => unknown, startMs: number): void {
    clearTimeout(this.#silence);
    try {
      const nodes = this.#apply(read());
      this.#nodes += nodes;
      this.#ms += this.#now() - startMs;
    } catch (reason) {
      this.#fail(reason instanceof ClearwayError ? reason : unfit());
    }
  }

  // Adds a piece to the value. A hostile worker may have made it, so nothing in it is trusted.
  #apply(piece: unknown): number {
    const [fills, holders, references, nodes, next] = listOf(piece);
    if (typeof nodes !== "number" || !(nodes > 0) || ++this.#pieces > this.#expected) throw unfit();
    for (const holder of listOf(holders)) this.#table.push(objectOf(holder));
    const links = listOf(references);
    for (let at = 0; at < links.length; at += 3) {
      const parent = objectOf(links[at]) as Record<PropertyKey, unknown>;
      const key = links[at + 1] as PropertyKey;
      if (!Object.hasOwn(parent, key)) throw unfit();
      parent[key] = this.#at(links[at + 2]);
    }
    const parts = listOf(fills);
    for (let at = 0; at < parts.length; at += 3) {
      fill(this.#at(parts[at]), parts[at + 1] as Fill, listOf(parts[at + 2]));
    }
    const port = this.#port;
    if (next === undefined) this.#finish();
    else if (isPort(next)) this.#port = next;
    else throw unfit();
    port.close();
    return nodes;
  }

  // Any other key, such as `__proto__`, would read an object of this thread.
  #at(index: unknown): object {
    if (typeof index !== "number") throw unfit();
    return objectOf(this.#table[index]);
  }

  #finish(): void {
    const isComplete = this.#expected === Number.POSITIVE_INFINITY || this.#expected === this.#pieces;
    if (this.#out.length !== 1 || !isComplete) throw unfit();
    const [value] = this.#out;
    this.close();
    this.#resolve(value);
  }
}

function fill(target: object, how: Fill, contents: unknown[]): void {
  if (how === Fill.elements) {
    if (!Array.isArray(target)) throw unfit();
    for (const each of contents) target.push(each);
  } else if (how === Fill.members) {
    for (const each of contents) Set.prototype.add.call(target, each);
  } else
    for (let at = 0; at < contents.length; at += 2) {
      const [key, value] = [contents[at], contents[at + 1]];
      if (how === Fill.entries) Map.prototype.set.call(target, key, value);
      else define(target, key as PropertyKey, value, true);
    }
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value) || value.length > valuesMax) throw unfit();
  return value;
}

function objectOf(value: unknown): object {
  if (typeof value !== "object" || value === null) throw unfit();
  return value;
}

/** Returns whether a value from another thread is a port. Structured clone copies no function, so only an object of the host has one. */
export function isPort(value: unknown): value is MessagePort {
  return typeof (value as { postMessage?: unknown } | null | undefined)?.postMessage === "function";
}

/** Returns the error for pieces that a hostile worker has made. */
export function unfit(): ClearwayError {
  return new ClearwayError("protocol", "the worker sent pieces of a value that do not fit together");
}

function unreadable(): ClearwayError {
  return new ClearwayError("message-error", "a message could not be read");
}
