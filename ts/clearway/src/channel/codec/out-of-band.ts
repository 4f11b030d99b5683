// SPDX-License-Identifier: MIT OR Apache-2.0
/** Takes large lists out of a message; the transport sends them next to it, as attachments. */
export interface AttachmentSink {
  /** Returns the attachment's number, or -1 when the list stays in the message. Throws when the message cannot be sent. */
  take(list: ArrayBufferView): number;
}

/**
 * Attachments for the next message that this thread encodes or decodes with a standard codec. The endpoint sets them just before; the
 * codec takes them and clears them first, so a nested message (encoded by an extension or a getter) has none. This global keeps
 * attachments out of the public codec interfaces, and any codec that wraps a standard one supports them.
 */
export const outOfBand: {
  sink: AttachmentSink | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** The caller copies the encoded message at once, so the message may share a buffer with others. */
  passing: boolean;
} = {
  sink: undefined,
  attached: undefined,
  passing: false,
};
