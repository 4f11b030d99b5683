// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips of one payload to native code in the same process, and from native code to JavaScript and back.
import { type OpenNative, openNativeAddon, openNativeClearway } from "../../channel/native.js";
import { payloadOf } from "../../channel/payload.js";
import { allBytesAre } from "../../memory/measure.js";
import { loadPlain } from "../../native/peers.js";
import { openPlugin } from "../../native/plugin.js";
import { type OpenArm, timedCalls, timedSync, type Work } from "../work.js";
import { checkEcho } from "./channel.js";

/** A call takes 0.1 to 10 us, so a run takes at least a few microseconds. */
const CALLS = 64;

async function open(native: OpenNative, payload: string) {
  const params = { channel: "message", codec: "standard", payload, messages: 0 } as const;
  const value = payloadOf(payload);
  const to = await native(params, "host to native");
  await checkEcho(to, payload, value);
  const works: Record<string, Work> = { trip: timedSync(() => to.callNow?.(value), CALLS) };
  const closers = [to];
  if (payload === "2 KB") {
    const from = await native(params, "native to host");
    await checkEcho(from, payload, value);
    works["trip-from-native"] = timedCalls(() => from.call(value));
    closers.push(from);
  }
  return { works, close: () => Promise.all(closers.map((each) => each.close())) };
}

export const clearway = (payload: string): OpenArm => open.bind(undefined, openNativeClearway, payload);

export const addon = (payload: string): OpenArm => open.bind(undefined, openNativeAddon, payload);

/** The plugin gets 1 MB that stays lent to it, and answers with the same memory. */
export const lent: OpenArm = async () => {
  const plugin = await openPlugin();
  const channel = plugin.channel("echo");
  const bytes = new Uint8Array(1 << 20);
  const memory = plugin.lend(bytes);
  const trip = (): number => {
    const answer = channel.call(memory);
    const length = answer.bytes?.length ?? 0;
    answer.release();
    return length;
  };
  if (trip() !== bytes.length) throw new Error("the plugin did not answer with the memory");
  return { works: { trip: timedSync(trip, CALLS) }, close: () => plugin.close() };
};

// Native code fills memory that was filled before: JavaScript's own through a plugin, and C's own in C alone.

const SIZES = { "64 KB": 1 << 16, "8 MB": 1 << 23 };
/** Bytes that a run fills. A fill of 64 KB takes a few microseconds. */
const RUN_BYTES = 1 << 20;

const works = (work: (bytes: number, calls: number) => Work): Record<string, Work> =>
  Object.fromEntries(Object.entries(SIZES).map(([name, bytes]) => [name, work(bytes, Math.max(1, RUN_BYTES / bytes))]));

export const fillByPlugin: OpenArm = async () => {
  const plugin = await openPlugin();
  const channel = plugin.channel("memset/shared");
  return {
    works: works((bytes, calls) => {
      const memory = plugin.lend(new Uint8Array(bytes));
      const value = new Uint8Array([1]);
      const fill = () => channel.call(value, [memory]);
      fill();
      if (!allBytesAre(memory.bytes, 1)) throw new Error(`the plugin did not fill the memory: bytes=${bytes}`);
      return timedSync(fill, calls);
    }),
    close: () => plugin.close(),
  };
};

/** The loop and the clock are in C, too. */
export const fillByC: OpenArm = async () => {
  const { library } = await loadPlain();
  const allocate = library.func("lab_hold", "void *", ["size_t"]);
  const fill = library.func("lab_timed_fill", "double", ["void *", "size_t", "int", "size_t"]);
  const holds = library.func("lab_holds", "int", ["void *", "size_t", "int"]);
  return {
    works: works((bytes, calls) => {
      const memory = allocate(bytes) as unknown;
      if (memory === null) throw new Error(`no memory: bytes=${bytes}`);
      fill(memory, bytes, 1, 1);
      if (holds(memory, bytes, 1) !== 1) throw new Error(`the memory was not filled: bytes=${bytes}`);
      return { calls, run: (costsNs) => void costsNs.push(fill(memory, bytes, 1, calls) as number) };
    }),
    close: () => {},
  };
};
