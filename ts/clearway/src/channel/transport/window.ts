// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Back-pressure for a carrier that has none. It counts the bytes in flight: bytes that were sent, and that the receiver has not
 * reported as taken. It changes only its own counts, and sends nothing itself. The sender asks for a report after each half of
 * its window. The receiver does not know the window, so the two ends may have windows of different sizes.
 */
export class SendWindow {
  readonly #windowBytes: number;
  #outBytes = 0;
  #unasked = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** Counts sent bytes. Returns whether the sender must ask the receiver for a report. */
  sent(bytes: number): boolean {
    this.#outBytes += bytes;
    this.#unasked += bytes;
    if (this.#outBytes >= this.#windowBytes) this.#full = true;
    if (this.#unasked * 2 < this.#windowBytes) return false;
    this.#unasked = 0;
    return true;
  }

  /** Uncounts bytes that could not be sent. `hadRoom` is the value of `room` before they were counted. */
  withdraw(bytes: number, hadRoom: boolean): void {
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    this.#unasked = Math.max(0, this.#unasked - bytes);
    if (hadRoom) this.#full = false;
  }

  /** Whether there is room for more bytes. A full window has room again when at most half of it is in flight. */
  get room(): boolean {
    return !this.#full;
  }

  /** Counts bytes that the receiver took. Returns whether the transport must call `drained`. */
  taken(bytes: number): boolean {
    // A report of more bytes than were sent counts as a report of all sent bytes.
    this.#outBytes = Math.max(0, this.#outBytes - bytes);
    if (!this.#full || this.#outBytes * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}

/**
 * Returns the size of a frame and its attachments for the window, in bytes. Every frame counts 8 bytes more than it has,
 * because an empty frame takes memory too.
 */
export function windowBytesOf(frame: Uint8Array, attachments: readonly Uint8Array[]): number {
  let bytes = frame.byteLength + 8;
  for (let at = 0; at < attachments.length; at++) bytes += (attachments[at] as Uint8Array).byteLength;
  return bytes;
}
