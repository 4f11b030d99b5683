// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseReason } from "./transport.js";

/**
 * Calls `close` when the user leaves this page. A browser does not report to the other end of a port that a page is gone. The page
 * therefore reports it itself. Returns a function that stops waiting. Does nothing in workers.
 */
export function onPageLeave(close: (reason: CloseReason) => void): () => void {
  if (typeof document === "undefined") return () => {};
  const leave = (): void => close({ code: "closed", message: "the page was left" });
  addEventListener("pagehide", leave);
  return () => removeEventListener("pagehide", leave);
}
