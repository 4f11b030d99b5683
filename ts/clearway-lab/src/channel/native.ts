// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels to native code in the same process, on the calling thread or through a queue. Node only.
import { Packr } from "msgpackr";
import { loadAddon } from "../native/peers.js";
import type { Caller, ChannelParams } from "./caller.js";

export type Direction = "host to native" | "host to native, background" | "native to host";

/** Opens a caller of native code. */
export type OpenNative = (params: ChannelParams, direction: Direction) => Caller | Promise<Caller>;

interface Bytes {
  write(value: unknown): Uint8Array;
  read(bytes: Uint8Array): unknown;
  /** Whether `write` produces new bytes. If not, it returns the value itself. */
  encodes: boolean;
}

/** Returns the codec of the hand-written native mechanisms: msgpackr, or no codec for raw bytes. */
export function bytesOf({ channel, codec }: ChannelParams): Bytes {
  if (codec === "binary") return { write: (value) => value as Uint8Array, read: (bytes) => bytes, encodes: false };
  const packr = new Packr({ useRecords: false, moreTypes: true });
  if (channel === "message")
    return { write: (value) => packr.pack(value), read: (bytes) => packr.unpack(bytes), encodes: true };
  return {
    encodes: true,
    write: (value) => packr.pack(["test", value]),
    read: (bytes) => (packr.unpack(bytes) as [string, unknown])[1],
  };
}

const NOTHING = new Uint8Array(0);

/** Opens a caller of a hand-written Node-API addon. It borrows the bytes of a call and copies them into its answer. */
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
