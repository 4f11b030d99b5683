// SPDX-License-Identifier: MIT OR Apache-2.0
/** Takes large lists out of a message. The transport sends these lists next to the message, as attachments. */
export interface AttachmentSink {
  /**
   * Adds a list to the attachments and returns the attachment's number. Returns -1 if the list stays in the message. Throws if
   * the message cannot be sent.
   */
  take(list: ArrayBufferView): number;
}

/**
 * Attachments of the next message that this thread encodes or decodes with a standard codec, and the limit on the values of the
 * next message that a standard or JSON codec decodes. The endpoint sets them just before the codec runs. The codec takes and
 * clears them before it does anything else. A nested message, which an extension or a getter encodes, therefore has none. This
 * global variable keeps them out of the public codec interfaces, so a codec that wraps one of these codecs supports them too.
 */
export const outOfBand: {
  sink: AttachmentSink | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** Whether the message may share a buffer with others. The endpoint sets it if it copies the encoded message at once. */
  mayShareBuffer: boolean;
  /** The endpoint's `valuesMax`. Undefined if no endpoint decodes. */
  valuesMax: number | undefined;
} = {
  sink: undefined,
  attached: undefined,
  mayShareBuffer: false,
  valuesMax: undefined,
};
