// SPDX-License-Identifier: MIT OR Apache-2.0

/** Returns the message of a thrown value as text. Never throws, even if a getter, `toString` or a revoked Proxy throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unreadable";
  }
}
