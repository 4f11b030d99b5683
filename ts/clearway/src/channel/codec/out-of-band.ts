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
 * Attachments of the next message that this thread encodes or decodes with a standard codec. The endpoint sets them just before
 * the codec runs. The codec takes and clears them before it does anything else. A nested message, which an extension or a
 * getter encodes, therefore has none. This global variable keeps attachments out of the public codec interfaces, so a codec
 * that wraps a standard codec supports them too.
 */
export const outOfBand: {
  sink: AttachmentSink | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** Whether the message may share a buffer with others. The endpoint sets it if it copies the encoded message at once. */
  mayShareBuffer: boolean;
} = {
  sink: undefined,
  attached: undefined,
  mayShareBuffer: false,
};
