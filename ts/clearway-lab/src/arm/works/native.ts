// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips of one payload to native code in the same process, and from native code to JavaScript and back.
import { type OpenNative, openNativeAddon } from "../../channel/native.js";
import { openNativeClearway } from "../../channel/native-clearway.js";
import { payloadOf } from "../../channel/payload.js";
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
