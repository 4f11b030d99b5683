// SPDX-License-Identifier: MIT OR Apache-2.0
// Encodes a mixed message of 2 KB and decodes it, on one thread. Each codec is set up as a sender of many messages would.
import { float64, standardMessageCodec } from "clearway/channel";
import { payloadOf, same } from "../../channel/payload.js";
import { type OpenArm, type OpenMechanism, timedSync } from "../work.js";

const PAYLOAD = "2 KB";
/** A message takes 4 to 10 us, so a run takes about 0.1 ms. */
const CALLS = 16;

function codec<Message>(encode: (value: unknown) => Message, decode: (message: Message) => unknown, value: unknown) {
  if (!same(payloadOf(PAYLOAD), decode(encode(value))))
    throw new Error("the decoded message differs from what was sent");
  return { works: { both: timedSync(() => decode(encode(value)), CALLS) }, close: () => {} } satisfies OpenMechanism;
}

/** Encodes into existing memory and decodes to views of it, as with a slab of shared memory. */
export const clearway: OpenArm = () => {
  const slab = new Uint8Array(1 << 16);
  return codec(
    (value) => slab.subarray(0, standardMessageCodec.encodeInto(value, slab)),
    (message) => standardMessageCodec.decode(message, { owned: true }),
    payloadOf(PAYLOAD, float64),
  );
};

/** Shared records are off, so that a receiver can decode each message without earlier ones. */
export const msgpackr: OpenArm = async () => {
  const { Packr } = await import("msgpackr");
  const packr = new Packr({ useRecords: false, moreTypes: true });
  return codec(
    (value) => packr.pack(value) as Uint8Array,
    (message) => packr.unpack(message),
    payloadOf(PAYLOAD),
  );
};
