// SPDX-License-Identifier: MIT OR Apache-2.0
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import type { StreamSettings } from "./options.js";

// nats-server 2.9.10 has a full stream drop its oldest message in one case, although the stream refuses new ones: it compares the limit with the
// stored bytes and the bytes of a new message, and forgets what its record takes besides. If the message fits and its record does not, it stores
// the message and then removes the oldest ones. So the records of calls have a size that is a multiple of this number, and so has the limit:
// then a message fits only if its record does. The number is larger than what a record takes besides the message.
const quantum = 256;

const headerName = "Clearway-Pad";
// The bytes of `NATS/1.0`, of the line ends around the headers, and of a header besides its name and its value.
const headersBytes = 12;
const headerBytes = 4;
// What a record takes besides the subject, the headers and the body.
const recordBytes = { file: 34, memory: 16 } as const;

/** Returns the limit of a stream's bytes for {@link paddedHeaders}: the next lower one, and at least the least. */
export function alignedBytes(bytes: number): number {
  return Math.max(quantum, bytes - (bytes % quantum));
}

/** Returns the headers of a call with an id. If the queue has a limit of its bytes, the record of the call has an aligned size. */
export function paddedHeaders(
  id: string,
  subject: string,
  body: Uint8Array,
  { queue, storage }: Pick<StreamSettings, "queue" | "storage">,
): MsgHdrs {
  const once = headers();
  const idName = "Nats-Msg-Id";
  once.set(idName, id);
  if (queue.bytes === undefined) return once;
  const size =
    recordBytes[storage] +
    subject.length +
    headersBytes +
    (headerBytes + idName.length + id.length) +
    (headerBytes + headerName.length) +
    body.length;
  once.set(headerName, "x".repeat((quantum - (size % quantum)) % quantum));
  return once;
}
