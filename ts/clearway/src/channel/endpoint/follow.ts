// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";

/**
 * Follows the signal of a request that counts as open but has not left. When the signal aborts, it calls `abort`; `unsent` says
 * whether the request still has not left. Returns a function that unsubscribes. Returns undefined if the request is not open
 * any more. The signal comes from the app, so subscribing to it may end the request or close the endpoint.
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
