// SPDX-License-Identifier: MIT OR Apache-2.0
// The protocol's own descriptor, for a runner that runs a user's code: the code and the processes that it starts use the standard streams.
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** The descriptor in the runner's process. Node does not pass it to the processes that the runner starts. */
export const CHANNEL_FD = 3;

/** Opens the channel in the runner's process. Both directions are JSON lines. */
export function openChannel(): Duplex {
  return new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
}
