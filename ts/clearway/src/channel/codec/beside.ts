// SPDX-License-Identifier: MIT OR Apache-2.0

/** Where large lists go that shall not stand in the message: they travel beside it, as attachments. */
export interface Aside {
  /** Takes a list, or not: its number, or -1 when it shall stand in the message. Throws what makes the message impossible. */
  take(list: ArrayBufferView): number;
}

/**
 * Handed to the next message that this thread writes or reads with a standard codec, and gone with it: a message that is
 * written within another (by an extension, or a getter) has lists of its own. So the codecs' interfaces stay as they are, and
 * any codec made of a standard one does as that does.
 */
export const beside: {
  aside: Aside | undefined;
  attached: readonly Uint8Array[] | undefined;
  /** The message that is written is copied on: it may stand in one buffer with others. */
  passing: boolean;
} = {
  aside: undefined,
  attached: undefined,
  passing: false,
};
