// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Codec } from "./codec.js";

/** Takes large lists out of a message. The transport sends these lists next to the message, as attachments. */
export interface AttachmentSink {
  /**
   * Adds a list to the attachments and returns the attachment's number. Returns -1 if the list stays in the message. Throws if
   * the message cannot be sent.
   */
  take(list: ArrayBufferView): number;
}

/**
 * Attachments of the next message that this thread encodes or decodes with a standard codec, its maximum size, and the limit on the values
 * of the next message that a standard or JSON codec decodes. The endpoint sets them just before the codec runs. The codec takes and
 * clears them before it does anything else. A nested message, which an extension or a getter encodes, therefore has none. This
 * global variable keeps them out of the public codec interfaces, so a codec that wraps one of these codecs supports them too.
 */
export const outOfBand: {
  sink: AttachmentSink | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** Whether the message may share a buffer with others. The endpoint sets it if it copies the encoded message at once. */
  mayShareBuffer: boolean;
  /** Maximum size of the message that is encoded next, in bytes. Undefined if no endpoint encodes. */
  bytesMax: number | undefined;
  /** The endpoint's `valuesMax`. Undefined if no endpoint decodes. */
  valuesMax: number | undefined;
} = {
  sink: undefined,
  attached: undefined,
  mayShareBuffer: false,
  bytesMax: undefined,
  valuesMax: undefined,
};

/**
 * Encodes a value in at most about `bytesMax` bytes: a standard codec throws `too-large` before it takes memory for more. A list that occurs
 * many times in a value, as an attachment may in a value that arrived, makes a message that is far larger than the value. Other codecs have
 * no such limit, so the caller checks the size, too.
 */
export function encodeWithin<T>(codec: Codec<unknown, T>, value: T, bytesMax: number): Uint8Array {
  outOfBand.bytesMax = bytesMax;
  try {
    return codec.encode(value);
  } finally {
    outOfBand.bytesMax = undefined;
  }
}
