// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Backpressure of a transport whose carrier has none: how many bytes have left and were not taken there. A pure value. The
 * sender asks to be told, each time half of its window has left; the receiver knows nothing of windows, so that the two
 * ends' need not agree.
 */
export class SendWindow {
  readonly #windowBytes: number;
  #outBytes = 0;
  #unasked = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** So many bytes leave. Returns whether to ask the receiver to tell what it has taken. */
  sent(bytes: number): boolean {
    this.#outBytes += bytes;
    this.#unasked += bytes;
    if (this.#outBytes >= this.#windowBytes) this.#full = true;
    if (this.#unasked * 2 < this.#windowBytes) return false;
    this.#unasked = 0;
    return true;
  }

  /** Whether there is room for more. */
  get room(): boolean {
    return !this.#full;
  }

  /** So many bytes were taken there. Returns whether it is time to say `drained`. */
  taken(bytes: number): boolean {
    // What the other end says beyond what was sent counts for nothing.
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    if (!this.#full || this.#outBytes * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}

/** What a frame weighs: an empty one is not free. */
export function weight(frame: Uint8Array, attachments: readonly Uint8Array[]): number {
  return attachments.reduce((sum, each) => sum + each.byteLength, frame.byteLength + 8);
}
