// SPDX-License-Identifier: MIT OR Apache-2.0

// Messages of a channel over an extension's port, which carries JSON. Each begins with a fixed text:
//
//   [ "clearway.extension", "frame", base64 ]                      a frame, or its last part
//   [ "clearway.extension", "asking", base64 ]                     the same; the receiver must report the bytes it took
//   [ "clearway.extension", "part", base64 ]                       a part of a frame; more parts follow
//   [ "clearway.extension", "taken", bytes ]                       bytes taken since the last report; each frame counts 8 bytes
//                                                                  more than it has
//   [ "clearway.extension", "close", { code, message, detail } ]   the sender has closed
//
// See spec/channel.md, "Extensions".

export const extensionMark = "clearway.extension";

export type ExtensionMessage =
  | { readonly kind: "frame" | "asking" | "part"; readonly text: string }
  | { readonly kind: "taken"; readonly bytes: number }
  | { readonly kind: "close"; readonly reason: unknown };

/** Reads a message. Returns undefined for a message that is not of this protocol, and `null` for one that breaks it. */
export function readExtensionMessage(given: unknown): ExtensionMessage | null | undefined {
  if (!Array.isArray(given) || given[0] !== extensionMark) return undefined;
  const [, kind, value] = given;
  if (kind === "close") return { kind, reason: value };
  if (kind === "taken") return Number.isSafeInteger(value) && value >= 0 ? { kind, bytes: value } : null;
  if (kind !== "frame" && kind !== "asking" && kind !== "part") return null;
  return typeof value === "string" ? { kind, text: value } : null;
}

// A browser refuses a message of 64 MiB or more, and blocks its thread while it converts a large one. Parts of 3 MiB become messages of
// 4 MiB. The number is a multiple of 3, so that only a frame's last part is padded.
export const partBytesMax = 3 << 20;
// Smaller parts are refused, because each of them takes memory beside its bytes.
export const partBytesMin = 64 << 10;
