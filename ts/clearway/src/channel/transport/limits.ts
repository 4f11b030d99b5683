// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules, wholeFrom } from "../../error/checked.js";
import { ClearwayError, invalid } from "../../error/clearway-error.js";

/** Memory limits of a transport. */
export interface TransportLimits {
  /** Maximum size of a frame in both directions, in bytes. Default: 64 MiB. A 4K image in RGBA takes 32 MiB. */
  readonly frameBytesMax?: number;
  /**
   * Number of bytes that may wait or be in flight before `send` returns false. Default: 1 MiB, like the default of a task's
   * streams. A single larger frame is still sent.
   */
  readonly windowBytes?: number;
}

const defaultFrameBytesMax = 64 << 20;
const defaultWindowBytes = 1 << 20;

/**
 * Memory that a message takes beside its bytes while it waits, in bytes: its object, its view of the memory and its place in a list. An empty
 * message of `ws` takes 130 bytes in Node 20. Every queue of another end's messages charges this for each message, and for each attachment.
 */
export const messageBytes = 128;

/** Rules for the options in {@link TransportLimits}. */
const limitRules: Rules = { frameBytesMax: (value) => wholeFrom(value, 1, 0x7fff_ffff), windowBytes: 1 };

/**
 * Checks the options of a transport and fills in the default limits. `rules` are for the options other than the limits. Throws
 * `invalid-argument`.
 */
export function transportOptions<Options extends TransportLimits>(
  given: Options,
  rules?: Rules,
  defaults?: object,
): Options & Required<TransportLimits> {
  const limits = { frameBytesMax: defaultFrameBytesMax, windowBytes: defaultWindowBytes };
  return checked(given, { ...limitRules, ...rules }, { ...limits, ...defaults }) as Options & Required<TransportLimits>;
}

/** Throws the errors of `send`: `too-large` for the frame, `invalid-argument` for attachments that the transport cannot move. */
export function checkFrame(
  frame: Uint8Array,
  attachments: readonly Uint8Array[],
  limits: { frameBytesMax: number; moves: boolean; shares: boolean },
): void {
  if (frame.byteLength > limits.frameBytesMax) throw frameTooLarge(frame.byteLength, limits.frameBytesMax);
  for (const { buffer, byteLength } of attachments) {
    const ok = isShared(buffer) ? limits.shares : limits.moves && byteLength === buffer.byteLength;
    if (!ok) throw invalid("attachments", "whole buffers that this transport can move", `${byteLength} bytes`);
  }
}

/** Returns the error for a frame over the limit. */
export function frameTooLarge(bytes: number, frameBytesMax: number): ClearwayError {
  return new ClearwayError("too-large", `a frame of ${bytes} bytes; the transport takes ${frameBytesMax} at most`);
}

/** Returns whether memory is shared. Returns false on hosts without shared memory. */
export function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return typeof SharedArrayBuffer === "function" && buffer instanceof SharedArrayBuffer;
}

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
