// SPDX-License-Identifier: MIT OR Apache-2.0

/** What was thrown says, as text. Never throws: its getters, its `toString` and a revoked Proxy may. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unreadable";
  }
}
