// SPDX-License-Identifier: MIT OR Apache-2.0

// An `async` function that awaits another takes three; some microseconds in all.
const turns = 16;

/**
 * Settles when nothing `isPending` any more, or after some turns of the queue of microtasks: what is pending then waits for
 * something else. An answer that is at hand so goes before what would hold it up for longer than all else.
 */
export async function answeredOrWaiting(isPending: () => boolean): Promise<void> {
  for (let turn = 0; turn < turns && isPending(); turn++) await undefined;
}
