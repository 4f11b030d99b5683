// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChannelTransport } from "./transport.js";

/**
 * Passes a new connection to the app's function. If the function throws or rejects, closes the connection with `failed`, and passes the
 * error to `onError`, or to the console under `title`. Never throws or rejects.
 */
export async function accept<Details extends unknown[]>(
  title: string,
  onTransport: (transport: ChannelTransport, ...details: Details) => unknown,
  onError: ((error: unknown) => void) | undefined,
  transport: ChannelTransport,
  ...details: Details
): Promise<void> {
  try {
    await onTransport(transport, ...details);
  } catch (error) {
    transport.close({ code: "failed", message: "the worker could not serve this connection" });
    try {
      if (onError) onError(error);
      else console.error(`${title}:`, error);
    } catch (thrown) {
      console.error(`${title}, onError threw:`, thrown);
    }
  }
}
