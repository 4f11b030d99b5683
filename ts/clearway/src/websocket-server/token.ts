// SPDX-License-Identifier: MIT OR Apache-2.0
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Returns a token of 256 random bits, which cannot be guessed. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Compares two tokens. The time that this takes reveals neither the position of a difference nor the length of the right token.
 */
export function sameToken(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
