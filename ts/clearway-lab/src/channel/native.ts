// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels to native code in the same process, on the calling thread or through a queue: a hand-written addon's, and Clearway's. Node only.

import { jsonMethodCodec, standardMessageCodec, standardMethodCodec } from "clearway/channel";
import type { NativeMessage } from "clearway-native";
import { Packr } from "msgpackr";
import { loadAddon } from "../native/peers.js";
import { openPlugin } from "../native/plugin.js";
import type { Caller, ChannelParams } from "./caller.js";

type Direction = "host to native" | "host to native, background" | "native to host";

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

// Clearway's codecs with a native plugin. The plugin's handlers run on the calling thread or on the plugin's pool. In the other
// direction, the plugin calls a handler of the host.

/** Converts a value to the bytes of the channel and back. A null message has no bytes. */
interface Form {
  write(value: unknown): Uint8Array | null;
  read(bytes: Uint8Array | null): unknown;
}

function formOf({ channel, codec }: ChannelParams): Form {
  if (codec === "binary") return { write: (value) => value as Uint8Array, read: (bytes) => bytes };
  if (channel === "message") {
    return {
      write: (value) => (value === null ? null : standardMessageCodec.encode(value)),
      read: (bytes) => (bytes === null ? null : standardMessageCodec.decode(bytes)),
    };
  }
  const { call, reply } = codec === "json" ? jsonMethodCodec : standardMethodCodec;
  return {
    write: (value) => call.encode({ method: "test", args: value }),
    read: (bytes) => {
      const envelope = reply.decode(bytes ?? NOTHING);
      if (envelope.kind !== "success") throw new Error(`the plugin answered ${envelope.kind}`);
      return envelope.value;
    },
  };
}

/** Returns the name of the plugin's handler. Encoded messages go to handlers that decode them. Raw bytes are echoed unchanged. */
function handlerOf({ channel, codec }: ChannelParams): string {
  if (channel === "method") return codec === "json" ? "echo/json" : "echo/method";
  return codec === "binary" ? "echo" : "echo/standard";
}

/** Opens a caller of the mechanism `clearway`. */
export const openNativeClearway: OpenNative = async (params, direction) => {
  const plugin = await openPlugin();
  const { write, read } = formOf(params);
  const encodes = params.codec !== "binary";
  let encoded = 0;
  // Counts encoded bytes as they are written, in both directions. For raw bytes, the plugin's ledger counts the copies.
  const written = (value: unknown): Uint8Array | null => {
    const bytes = write(value);
    if (encodes) encoded += bytes?.length ?? 0;
    return bytes;
  };
  const answered = (message: NativeMessage): unknown => {
    const { bytes } = message;
    if (encodes) encoded += bytes?.length ?? 0;
    const value = read(bytes);
    // Decoding has copied everything that the value needs. Raw bytes are not released: the caller may read them until the next call.
    if (encodes) message.release();
    return value;
  };
  const common = {
    copiedBytes: () => {
      const { toNative, fromNative } = plugin.stats().ledger;
      return encoded + (encodes ? 0 : toNative.copiedBytes + fromNative.copiedBytes);
    },
    close: () => plugin.close(),
  };
  if (direction === "native to host") {
    plugin.handle("echo/host", (message) => {
      const value = read(message.bytes);
      return write(value);
    });
    const channel = plugin.channel("echo/back");
    return { ...common, call: async (value) => answered(await channel.send(written(value))) };
  }
  if (direction === "host to native, background") {
    const channel = plugin.channel(`${handlerOf(params)}/pool`);
    return { ...common, call: async (value) => answered(await channel.send(written(value))) };
  }
  const channel = plugin.channel(handlerOf(params));
  const call = (value: unknown): unknown => {
    if (encodes) return answered(channel.call(written(value)));
    // Lends the bytes to the plugin, which then answers with the same memory.
    const loan = plugin.lend(value as Uint8Array);
    const bytes = answered(channel.call(loan));
    loan.release();
    return bytes;
  };
  return { ...common, call: async (value) => call(value), callNow: call };
};
