// SPDX-License-Identifier: MIT OR Apache-2.0
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Returns a token of 256 random bits, which cannot be guessed. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares two tokens. The time reveals neither where they differ nor how long the right one is. */
export function sameToken(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
