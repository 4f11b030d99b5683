// SPDX-License-Identifier: MIT OR Apache-2.0

// What a channel posts through a port. The mark stands first, so that others may post through the same port:
//
//   [ "clearway.channel", Post.frames, lengths, bytes, attachments ]     frames of one tick, one behind the other; each
//                                                                        begins at a multiple of 8 bytes
//   [ "clearway.channel", Post.framesAsking, ... ]                       the same, and the receiver is to tell what it took
//   [ "clearway.channel", Post.taken, count ]                            so many bytes were taken since this was last told;
//                                                                        a frame counts 8 more than it has
//   [ "clearway.channel", Post.ring, memory ]                            a ring: what follows has its place in it
//   [ "clearway.channel", Post.opened ]                                  it is read; what follows has its place in it
//   [ "clearway.channel", Post.lifeline, name ]                          a lock that the sender's thread holds while it
//                                                                        lives (browsers)
//   [ "clearway.channel", Post.close, { code, message, detail } ]        the end
//
// Beside a ring a message begins with four slots more, which are its mark (spec/ring.md). Attachments belong to a message's
// last frame. spec/channel.md, "Ports".

export const portMark = "clearway.channel";

/** What a message says. The numbers are the wire; add at the end, never renumber. */
export enum Post {
  frames = 0,
  taken = 1,
  close = 2,
  framesAsking = 3,
  ring = 4,
  opened = 5,
  lifeline = 6,
}

/** Where frame number `index` begins: behind the one before it, at a multiple of 8. */
export function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** The frames of a message, as views of it; undefined where it does not hold what it says. */
export function framesOf(lengths: unknown, bytes: unknown): Uint8Array[] | undefined {
  if (!Array.isArray(lengths) || !(bytes instanceof Uint8Array)) return undefined;
  if (lengths.length === 1 && lengths[0] === bytes.byteLength) return [bytes];
  const frames: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    if (!(Number.isInteger(length) && length >= 0 && length <= bytes.byteLength - at)) return undefined;
    frames.push(bytes.subarray(at, at + length));
    at += padded(length);
  }
  return frames;
}

/** The attachments of a message; undefined where they are none. */
export function attachmentsOf(given: unknown): readonly Uint8Array[] | undefined {
  if (given === undefined) return none;
  return Array.isArray(given) && given.every((each) => each instanceof Uint8Array) ? given : undefined;
}

export const none: readonly Uint8Array[] = [];
