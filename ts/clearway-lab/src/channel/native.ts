// SPDX-License-Identifier: MIT OR Apache-2.0
// Channels to native code in the same process, on the calling thread or through a queue. Node only.
import { Packr } from "msgpackr";
import type { Caller, ChannelParams } from "./caller.js";

export type Direction = "host to native" | "host to native, background" | "native to host";

/** Opens a caller of native code. */
export type OpenNative = (params: ChannelParams, direction: Direction) => Caller | Promise<Caller>;

export interface Bytes {
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
