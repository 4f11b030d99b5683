// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";

/**
 * Follows the signal of a request that counts as open and has not left. `abort` hears whether it still has not. Returns what unsubscribes,
 * or undefined if the request is not open any more: the signal, which is not ours, may have ended it, or closed the endpoint.
 */
export function follow(
  signal: AbortSignal,
  isOpen: () => boolean,
  abort: (reason: unknown, unsent: boolean) => void,
): (() => void) | undefined {
  let unsent = true;
  const unlisten = onAbort(signal, (reason) => abort(reason, unsent));
  unsent = false;
  if (isOpen()) return unlisten;
  unlisten();
  return undefined;
}
