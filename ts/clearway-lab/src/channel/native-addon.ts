// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written Node-API addon. It borrows the bytes of a call and copies them into its answer.

import { loadAddon } from "../native/peers.js";
import { bytesOf, type OpenNative } from "./native.js";

const NOTHING = new Uint8Array(0);

/** Opens a caller of the mechanism `node-api`. */
export const openNativeAddon: OpenNative = (params, direction) => {
  const addon = loadAddon();
  const { write, read, encodes } = bytesOf(params);
  let copied = 0;
  const answer = (bytes: Uint8Array): Uint8Array => {
    // Counts three copies: packing the message, copying it for the call, and packing the result.
    copied += 3 * bytes.length;
    return write(read(bytes));
  };
  const call = (value: unknown): unknown => {
    if (params.payload === "null" && params.channel === "message") return addon.take(NOTHING);
    if (direction === "native to host") return read(addon.ask(answer, write(value)));
    const bytes = addon.echo(write(value));
    // Packing copies the message once, and the addon copies it once more. Raw bytes are not packed.
    copied += (encodes ? 2 : 1) * bytes.length;
    return read(bytes);
  };
  return { call: async (value) => call(value), callNow: call, copiedBytes: () => copied, close: () => {} };
};
