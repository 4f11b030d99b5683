// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Moved, move } from "clearway";
import type { readings, sources } from "./plan.js";

export type SourceKind = (typeof sources)[number];

/** Size in bytes of each value of a `moved` source. */
export const movedLength = 500;

/** A stream from the caller that records its own state. */
export class Source implements AsyncIterable<number | Moved<Uint8Array>> {
  /** Number of values drawn from it. */
  drawn = 0;
  /** Whether it has delivered all its values. A source that was left early may have drawn a value that was not sent. */
  whole = false;
  /** Settles when it has ended or was closed, or is stuck by design, because it cannot be closed then. */
  readonly closed: Promise<void>;
  #close!: () => void;
  #state: "fresh" | "open" | "stuck" | "closed" = "fresh";

  constructor(
    readonly kind: SourceKind,
    readonly count: number,
  ) {
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  /** Whether it has started, and has not ended, was not closed, and is not stuck by design. */
  get open(): boolean {
    return this.#state === "open";
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<number | Moved<Uint8Array>, symbol | undefined> {
    this.#state = "open";
    try {
      for (let at = 0; at < this.count || this.kind === "endless"; at++) {
        this.drawn++;
        if (at % 5 === 4) await new Promise((resolve) => setTimeout(resolve));
        yield this.kind === "moved" ? move(new Uint8Array(movedLength)) : at;
      }
      this.whole = true;
      if (this.kind === "throws") throw Object.assign(new Error("the source failed"), { name: "SourceError" });
      if (this.kind === "bad") yield (() => 1) as unknown as number;
      if (this.kind === "stuck") {
        this.#state = "stuck";
        this.#close();
        await new Promise(() => {});
      }
      return this.kind === "badEnd" ? Symbol("odd") : undefined;
    } finally {
      this.#state = "closed";
      this.#close();
    }
  }
}

/** The values and the end of a stream, as its reader saw them. */
export interface Seen {
  values: unknown[];
  /** The end value of the producer. Undefined when the reader left before. */
  end: { value: unknown } | undefined;
  /** The error of the stream, or of the reader's leaving. */
  error: { reason: unknown } | undefined;
}

/** Reads a stream in one of a plan's ways. Settles when the reader is done, and never rejects. */
export async function read(
  stream: AsyncIterableIterator<unknown>,
  how: (typeof readings)[number],
  after: number,
): Promise<Seen> {
  const seen: Seen = { values: [], end: undefined, error: undefined };
  const most = ["fully", "slowly", "overlap"].includes(how) ? Number.POSITIVE_INFINITY : after;
  const take = (step: IteratorResult<unknown>): boolean => {
    if (step.done) seen.end ??= { value: step.value };
    else seen.values.push(step.value);
    return step.done === true;
  };
  try {
    if (how === "never") return seen;
    if (how === "overlap") {
      // Requests several values at once, and the end before any of them is answered.
      const steps = [stream.next(), stream.next(), stream.next()];
      const last = stream.return?.("left");
      const settled = await Promise.allSettled([...steps, last]);
      for (const step of settled.slice(0, 3)) {
        if (step.status === "rejected") throw step.reason;
        if (!step.value?.done) take(step.value as IteratorResult<unknown>);
      }
      const end = settled[3]!;
      if (end.status === "rejected") throw end.reason;
      return seen;
    }
    if (how === "twice") {
      // Two readers take turns: each value goes to one of them.
      const readers = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()];
      for (;;) {
        const steps = await Promise.allSettled(readers.map((reader) => reader.next()));
        for (const step of steps) {
          if (step.status === "rejected") throw step.reason;
          if (take(step.value)) return seen;
        }
      }
    }
    while (how !== "return" && seen.values.length < most) {
      if (how === "slowly") await new Promise((resolve) => setTimeout(resolve));
      if (take(await stream.next())) return seen;
    }
    if (how === "break" || how === "return") await stream.return?.("left");
    if (how === "throw") await stream.throw?.(new ReaderError("the reader threw"));
  } catch (reason) {
    seen.error = { reason };
  }
  return seen;
}

/** The error that a reader throws into its stream. */
export class ReaderError extends Error {
  override readonly name = "ReaderError";
}
