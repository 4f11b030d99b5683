// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Moved, move } from "clearway";
import type { sources } from "./plan.js";

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
