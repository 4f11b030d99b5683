// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows of the published table of platform channels, over the public channel API at both ends: message and method channels of an
// endpoint whose other end is a native plugin. Each measurement also times a null message on the same thread, which only hops.
import {
  binaryCodec,
  type Endpoint,
  jsonMethodCodec,
  type MessageCodec,
  standardMessageCodec,
  standardMethodCodec,
} from "clearway/channel";
import type { ViewKind } from "clearway-native";
import { nowMs } from "#lab-host";
import { openPlugin } from "../native/plugin.js";
import { type Measured, type Mechanism, textParam } from "../protocol/measured.js";
import type { Caller } from "./caller.js";
import { type ChannelParams, channelParamsOf } from "./caller.js";
import { drive, measuredOf } from "./drive.js";

/** Where the plugin's handlers run: on the calling thread, or on the plugin's pool. */
type Runs = "" | "/pool";

const NULL_CHANNEL = "echo";

/** The median of null messages decides the hop. More of them are not needed for three digits. */
const HOPS = 500;
/** V8 compiles a function within about two thousand calls. */
const HOPS_WARM = 2000;

function platformChannel(runs: Runs, views: ViewKind): Mechanism {
  return async (work): Promise<Measured> => {
    const params = channelParamsOf(work.params);
    const direction = textParam(work.params, "direction");
    if (direction !== "host to native" && direction !== "native to host")
      throw new RangeError(`direction must be "host to native" or "native to host": direction=${direction}`);
    // An optional package: where it is missing, the runner says so and never comes here.
    const { pluginEndpoint } = await import("clearway-native/channel");
    const plugin = await openPlugin({ views });
    const isBack = direction === "native to host";
    const channel = isBack ? "echo/back" : handlerOf(params) + runs;
    const hops = `${NULL_CHANNEL}${runs}`;
    const endpoint = await pluginEndpoint(plugin, {
      messages: [...new Set([channel, hops])],
      ...(isBack && { asks: ["echo/host"] }),
    });
    try {
      const caller = callerOf(endpoint, channel, params, isBack, views === "shared");
      const measured = measuredOf(await drive(caller, params));
      const nulls = endpoint.messages(hops, binaryCodec);
      // The first ones compile what they do not share with the calls before.
      await medianUs(nulls, HOPS_WARM);
      const hopUs = await medianUs(nulls, HOPS);
      return { ...measured, values: { ...measured.values, ...hopOf(measured, hopUs) } };
    } finally {
      await endpoint.close();
      await plugin.close();
    }
  };
}

/** Divides the median round trip into the hop and the rest. */
function hopOf({ samples }: Measured, hopUs: number): Measured["values"] {
  return sharesOf(median(samples["roundTrip"]?.ns ?? []) / 1000, hopUs);
}

/**
 * Returns the hop's share of a round trip, and that of the rest, which is encoding, decoding and copying. A hop that is longer than its round
 * trip was measured wrongly: the pages leave it out, with a note.
 */
export function sharesOf(roundTripUs: number, hopUs: number): Measured["values"] {
  const hopShare = Math.min(100, (hopUs / roundTripUs) * 100);
  return {
    hop: { unit: "us", value: hopUs },
    hopShare: { unit: "%", value: hopShare },
    copyShare: { unit: "%", value: 100 - hopShare },
  };
}

async function medianUs(nulls: { send(message: Uint8Array): Promise<unknown> }, calls: number): Promise<number> {
  const ns = new Float64Array(calls);
  const nothing = new Uint8Array(0);
  for (let i = 0; i < calls; i++) {
    const begin = nowMs();
    await nulls.send(nothing);
    ns[i] = (nowMs() - begin) * 1e6;
  }
  return median(ns) / 1000;
}

function median(ns: ArrayLike<number>): number {
  const sorted = Float64Array.from(ns).sort();
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Returns the plugin's channel. Encoded messages go to handlers that decode them and encode them again. */
function handlerOf({ channel, codec }: ChannelParams): string {
  if (channel === "method") return codec === "json" ? "echo/json" : "echo/method";
  return codec === "binary" ? "echo" : "echo/standard";
}

function callerOf(
  endpoint: Endpoint,
  name: string,
  { channel, codec }: ChannelParams,
  isBack: boolean,
  isShared: boolean,
): Caller {
  const close = () => {};
  if (channel === "method") {
    const methods = endpoint.methods(name, codec === "json" ? jsonMethodCodec : standardMethodCodec);
    return { call: (value) => methods.call("test", value), close };
  }
  const messageCodec = (codec === "binary" ? binaryCodec : standardMessageCodec) as MessageCodec<unknown>;
  const messages = endpoint.messages(name, messageCodec);
  // The answer of the host is the value, decoded and encoded again.
  const handled = isBack ? endpoint.messages("echo/host", messageCodec).handle((value) => value) : undefined;
  return {
    // A null message has no bytes, and its answer is no value.
    call: async (value) => (await messages.send(value)) ?? null,
    // Bytes in shared memory are not copied on the way to the plugin.
    ...(isShared && { prepare: shared }),
    close: () => handled?.[Symbol.dispose](),
  };
}

/** Copies bytes into shared memory. Returns other values as they are. */
function shared(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const bytes = new Uint8Array(new SharedArrayBuffer(value.length));
  bytes.set(value);
  return bytes;
}

export const platformChannels: Record<string, Mechanism> = {
  "calling-thread": platformChannel("", "copied"),
  "background-queue": platformChannel("/pool", "copied"),
  "calling-thread-shared": platformChannel("", "shared"),
  "background-queue-shared": platformChannel("/pool", "shared"),
};
