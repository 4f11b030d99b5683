// SPDX-License-Identifier: MIT OR Apache-2.0
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** A token that nobody guesses: 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether they are the same, in a time that does not tell where they differ, nor how long the right one is. */
export function sameToken(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}
