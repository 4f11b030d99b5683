// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's codecs with a native plugin. The plugin's handlers run on the calling thread or on the plugin's pool. In the other
// direction, the plugin calls a handler of the host.
import { jsonMethodCodec, standardMessageCodec, standardMethodCodec } from "clearway/channel";
import type { NativeMessage } from "clearway-native";
import { openPlugin } from "../native/plugin.js";
import type { ChannelParams } from "./caller.js";
import type { OpenNative } from "./native.js";

/** Converts a value to the bytes of the channel and back. A null message has no bytes. */
interface Form {
  write(value: unknown): Uint8Array | null;
  read(bytes: Uint8Array | null): unknown;
}

const NOTHING = new Uint8Array(0);

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
