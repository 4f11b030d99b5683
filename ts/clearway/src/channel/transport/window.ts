// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Backpressure of a transport whose carrier has none: how many bytes left and were not acknowledged. A pure value. The
 * receiver acknowledges half windows, so that an acknowledgement is paid for by many frames.
 */
export class SendWindow {
  readonly #windowBytes: number;
  #outBytes = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** So many bytes leave. Returns whether there is room for more. */
  sent(bytes: number): boolean {
    this.#outBytes += bytes;
    if (this.#outBytes >= this.#windowBytes) this.#full = true;
    return !this.#full;
  }

  /** So many bytes arrived there. Returns whether it is time to say `drained`. */
  acknowledged(bytes: number): boolean {
    // What the other end says beyond what was sent counts for nothing.
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    if (!this.#full || this.#outBytes * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}

/** The receiver's half. */
export class ReceiveWindow {
  readonly #halfBytes: number;
  #owedBytes = 0;

  constructor(windowBytes: number) {
    this.#halfBytes = windowBytes / 2;
  }

  /** So many bytes were taken. Returns how many to acknowledge now: 0 for none yet. */
  taken(bytes: number): number {
    this.#owedBytes += bytes;
    if (this.#owedBytes < this.#halfBytes) return 0;
    const owed = this.#owedBytes;
    this.#owedBytes = 0;
    return owed;
  }
}

/** What a frame weighs: an empty one is not free. */
export function weight(frame: Uint8Array, attachments: readonly Uint8Array[]): number {
  return attachments.reduce((sum, each) => sum + each.byteLength, frame.byteLength + 8);
}
