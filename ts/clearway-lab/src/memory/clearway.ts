// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's mechanisms: a method channel that copies, memory that JavaScript lends, memory whose number a method's call passes, and memory
// from the plugin's pool. They exist for the example plugin in C and for the one in Rust.
import { standardMethodCodec } from "clearway/channel";
import type { LentMemory, NativeMemory, Plugin } from "clearway-native";
import { openPlugin } from "../native/plugin.js";
import type { Mechanism } from "../protocol/measured.js";
import { allBytesAre, fillMechanism } from "./measure.js";

type OpenPlugin = () => Promise<Plugin>;

/** Copies twice: the codec writes the list into existing memory, and the list of the plugin's answer is copied back. */
const copied = (open: OpenPlugin) =>
  fillMechanism(async (bytes) => {
    const plugin = await open();
    const channel = plugin.channel("memset/method");
    const { call, reply } = standardMethodCodec;
    // The 64 bytes are for the method's name, the list's size and the value.
    const slab = new Uint8Array(bytes + 64);
    let list = new Uint8Array(bytes);
    return {
      renew: () => {
        list = new Uint8Array(bytes);
      },
      fill: (value) => {
        const size = call.encodeInto({ method: "memset", args: [list, value] }, slab);
        const answer = channel.call(slab.subarray(0, size));
        const envelope = reply.decode(answer.bytes ?? new Uint8Array(0), { owned: true });
        if (envelope.kind !== "success") throw new Error(`memset/method answered ${envelope.kind}`);
        list.set(envelope.value as Uint8Array);
        answer.release();
      },
      holds: (value) => allBytesAre(list, value),
      close: () => plugin.close(),
    };
  });

/** JavaScript owns the buffer and lends it to the plugin. No byte of the buffer is copied. */
const shared = (open: OpenPlugin) =>
  fillMechanism(async (bytes) => {
    const plugin = await open();
    const channel = plugin.channel("memset/shared");
    const value = new Uint8Array(1);
    let memory: LentMemory = plugin.lend(new Uint8Array(bytes));
    return {
      release: () => memory.release(),
      renew: () => {
        memory = plugin.lend(new Uint8Array(bytes));
      },
      fill: (byte) => {
        value[0] = byte;
        channel.call(value, [memory]);
      },
      holds: (byte) => memory.size === bytes && allBytesAre(memory.bytes, byte),
      close: () => {
        memory.release();
        return plugin.close();
      },
    };
  });

/** The buffer comes from the plugin's pool. JavaScript has a handle and reads the bytes once, at the end. */
const held = (open: OpenPlugin) =>
  fillMechanism(async (bytes) => {
    const plugin = await open();
    const channel = plugin.channel("memset/shared");
    const value = new Uint8Array(1);
    let memory: NativeMemory = plugin.allocate(bytes);
    return {
      release: () => memory.release(),
      renew: () => {
        memory = plugin.allocate(bytes);
      },
      fill: (byte) => {
        value[0] = byte;
        channel.call(value, [memory]);
      },
      holds: (byte) => memory.bytes.length === bytes && allBytesAre(memory.bytes, byte),
      close: () => {
        memory.release();
        return plugin.close();
      },
    };
  });

/**
 * Passes the address of the memory over a method channel: the call's argument is the number of an attached loan. The authors asked for
 * this. The call is encoded once per fill, as an app would.
 */
const byNumber = (open: OpenPlugin) =>
  fillMechanism(async (bytes) => {
    const plugin = await open();
    const channel = plugin.channel("memset/number");
    const { call, reply } = standardMethodCodec;
    const slab = new Uint8Array(64);
    let memory: LentMemory = plugin.lend(new Uint8Array(bytes));
    return {
      release: () => memory.release(),
      renew: () => {
        memory = plugin.lend(new Uint8Array(bytes));
      },
      fill: (value) => {
        const size = call.encodeInto({ method: "memset", args: [0, value] }, slab);
        const answer = channel.call(slab.subarray(0, size), [memory]);
        const { kind } = reply.decode(answer.bytes ?? new Uint8Array(0));
        if (kind !== "success") throw new Error(`memset/number answered ${kind}`);
        answer.release();
      },
      holds: (byte) => memory.size === bytes && allBytesAre(memory.bytes, byte),
      close: () => {
        memory.release();
        return plugin.close();
      },
    };
  });

/** Returns the mechanisms with a plugin. Each measurement opens the plugin and closes it. */
export function memoryOf(open: OpenPlugin): Record<string, Mechanism> {
  return {
    "clearway-copied": copied(open),
    "clearway-shared": shared(open),
    "clearway-number": byNumber(open),
    "clearway-held": held(open),
  };
}

export const memoryClearway: Record<string, Mechanism> = memoryOf(() => openPlugin());
