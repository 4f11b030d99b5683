// SPDX-License-Identifier: MIT OR Apache-2.0
import { onAbort } from "#host";

/**
 * Follows the signal of a request that counts as open but has not been sent. Calls `abort` when the signal aborts. `unsent` is
 * true if this happens during `follow`, which means before the request is sent. Returns a function that unsubscribes. Returns
 * undefined if the request is not open any more: the signal comes from the app, and subscribing to it can end the request or
 * close the endpoint.
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
