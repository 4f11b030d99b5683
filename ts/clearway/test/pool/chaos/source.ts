// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Moved, move } from "clearway";
import type { sources } from "./plan.js";

export type SourceKind = (typeof sources)[number];

/** The bytes of each value of a `moved` source. */
export const movedLength = 500;

/** A stream that the caller feeds, which knows what became of it. */
export class Source implements AsyncIterable<number | Moved<Uint8Array>> {
  /** How many values were drawn from it. */
  drawn = 0;
  /** Gave all its values. One that is left in the middle may have drawn a value that then does not leave. */
  whole = false;
  /** Settles when it has ended or was closed. */
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

  /** Begun, and neither ended nor closed nor stuck by its own doing. */
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
        await new Promise(() => {});
      }
      return this.kind === "badEnd" ? Symbol("odd") : undefined;
    } finally {
      this.#state = "closed";
      this.#close();
    }
  }
}
