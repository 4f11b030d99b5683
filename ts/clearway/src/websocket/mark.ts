// SPDX-License-Identifier: MIT OR Apache-2.0

// Backpressure to the other end's reader, where both ends are ours. The sender asks: whenever half of its own window has
// left, it sends a mark with all that it has sent so far; the receiver echoes the mark when it has taken what came before it.
// So the ends need not agree on a window. Text messages, because frames are binary ones:
//
//   "mark 1048600"      the sender has sent so many bytes of frames, 8 added for each
//   "taken 1048600"     the receiver has taken them

const form = /^(mark|taken) (\d{1,16})$/;

export interface Mark {
  readonly word: "mark" | "taken";
  readonly total: number;
}

export function markText(word: Mark["word"], total: number): string {
  return `${word} ${total}`;
}

/** Undefined for any other text. */
export function readMark(text: string): Mark | undefined {
  const [, word, total] = form.exec(text) ?? [];
  return word === undefined ? undefined : { word: word as Mark["word"], total: Number(total) };
}

/** The sender's half, a pure value. */
export class MarkedWindow {
  readonly #windowBytes: number;
  #sent = 0;
  #marked = 0;
  #taken = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  get full(): boolean {
    return this.#full;
  }

  /** So many bytes leave. Returns the mark that is to follow them, if it is time for one. */
  sent(bytes: number): number | undefined {
    this.#sent += bytes;
    if (this.#sent - this.#taken >= this.#windowBytes) this.#full = true;
    const due = (this.#sent - this.#marked) * 2 >= this.#windowBytes;
    if (due) this.#marked = this.#sent;
    return due ? this.#sent : undefined;
  }

  /** A mark for all that was sent, as when it could not be sent in between. */
  markAll(): number {
    this.#marked = this.#sent;
    return this.#sent;
  }

  /** A mark came back: undefined for one that was never sent, else whether it is time to say `drained`. */
  taken(total: number): boolean | undefined {
    if (total <= this.#taken || total > this.#marked) return undefined;
    this.#taken = total;
    if (!this.#full || (this.#sent - total) * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}
