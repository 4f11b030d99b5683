// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Back-pressure for a carrier that has none: counts the bytes in flight, sent but not taken by the receiver. Has no side effects. The
 * sender asks for a report each time half of its window has left. The receiver does not know the window, so the windows of the two ends
 * may differ.
 */
export class SendWindow {
  readonly #windowBytes: number;
  #outBytes = 0;
  #unasked = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** Counts sent bytes. Returns whether to ask the receiver for a report. */
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

  /** Counts bytes that the receiver took. Returns whether to call `drained`. */
  taken(bytes: number): boolean {
    // A report of more bytes than were sent counts as all of them.
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    if (!this.#full || this.#outBytes * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}

/** Returns a frame's weight in bytes. Every frame counts 8 bytes more than it has: an empty frame occupies memory too. */
export function weight(frame: Uint8Array, attachments: readonly Uint8Array[]): number {
  return attachments.reduce((sum, each) => sum + each.byteLength, frame.byteLength + 8);
}
