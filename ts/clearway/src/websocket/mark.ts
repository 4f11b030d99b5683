// SPDX-License-Identifier: MIT OR Apache-2.0

// Back-pressure between two ends of Clearway. After each half of its own window, the sender sends a mark. The mark is the total number of
// bytes that the sender has sent. The receiver echoes the mark when it has taken all frames before the mark. The two ends therefore need
// not agree on a window. Marks are text messages, because frames are binary messages:
//
//   "mark 1048600"      bytes of all frames that the sender has sent so far; each frame counts 8 bytes more than it has
//   "taken 1048600"     the receiver has taken these bytes

const form = /^(mark|taken) (\d{1,16})$/;

export interface Mark {
  readonly kind: "mark" | "taken";
  readonly total: number;
}

export function markText(kind: Mark["kind"], total: number): string {
  return `${kind} ${total}`;
}

/** Reads a mark or an echo. Returns undefined for any other text. */
export function readMark(text: string): Mark | undefined {
  const [, kind, total] = form.exec(text) ?? [];
  return kind === undefined ? undefined : { kind: kind as Mark["kind"], total: Number(total) };
}

/** The sender's side of the window. Has no side effects. */
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

  /** Counts sent bytes. Returns the mark to send after these bytes. Returns undefined if no mark is due. */
  sent(bytes: number): number | undefined {
    this.#sent += bytes;
    if (this.#sent - this.#taken >= this.#windowBytes) this.#full = true;
    const due = (this.#sent - this.#marked) * 2 >= this.#windowBytes;
    if (due) this.#marked = this.#sent;
    return due ? this.#sent : undefined;
  }

  /** Returns a mark for all bytes sent so far. Used after frames that were sent without marks. */
  markAll(): number {
    this.#marked = this.#sent;
    return this.#sent;
  }

  /** Handles an echoed mark. Returns undefined for a total that is no new echo. Otherwise returns whether to call `drained`. */
  taken(total: number): boolean | undefined {
    if (total <= this.#taken || total > this.#marked) return undefined;
    this.#taken = total;
    if (!this.#full || (this.#sent - total) * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}
