// SPDX-License-Identifier: MIT OR Apache-2.0
// The hand-written addon: it borrows the call's bytes and copies them into its answer.

import { loadAddon } from "../native/peers.js";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller } from "./caller.js";
import { bytesOf, nativeChannel } from "./native.js";

const NOTHING = new Uint8Array(0);

export const nativeAddon: Record<string, Mechanism> = {
  "node-api": nativeChannel((row, direction): Caller => {
    const addon = loadAddon();
    const { write, read, encodes } = bytesOf(row);
    let copied = 0;
    const answer = (bytes: Uint8Array): Uint8Array => {
      // Packed, and copied for the call; the result is packed once more.
      copied += 3 * bytes.length;
      return write(read(bytes));
    };
    const call = (value: unknown): unknown => {
      if (row.payload === "null" && row.channel === "message") return addon.take(NOTHING);
      if (direction === "native to host") return read(addon.ask(answer, write(value)));
      const bytes = addon.echo(write(value));
      // Packed, then copied back; raw bytes are only copied back.
      copied += (encodes ? 2 : 1) * bytes.length;
      return read(bytes);
    };
    return { call: async (value) => call(value), callNow: call, copiedBytes: () => copied, close: () => {} };
  }),
};
