// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's three mechanisms: a method channel that copies, memory that JavaScript lends, and memory from the plugin's pool.
import { standardMethodCodec } from "clearway/channel";
import type { LentMemory, NativeMemory } from "clearway-native";
import { openPlugin } from "../native/plugin.js";
import type { Mechanism } from "../protocol/measured.js";
import { allBytesAre } from "./filler.js";
import { fillMechanism } from "./measure.js";

/** Copies twice: the codec writes the list into existing memory, and the list of the plugin's answer is copied back. */
const copied = fillMechanism(async (bytes) => {
  const plugin = await openPlugin();
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
const shared = fillMechanism(async (bytes) => {
  const plugin = await openPlugin();
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
const held = fillMechanism(async (bytes) => {
  const plugin = await openPlugin();
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

export const memoryClearway: Record<string, Mechanism> = {
  "clearway-copied": copied,
  "clearway-shared": shared,
  "clearway-held": held,
};
