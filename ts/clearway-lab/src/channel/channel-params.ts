// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of one channel measurement, which is one row of the channel tables. The other side echoes the payload.
import { numberParam, textParam } from "../protocol/measured.js";
import type { Params } from "../protocol/message.js";

export interface ChannelParams {
  channel: "message" | "method";
  codec: "standard" | "json" | "binary";
  payload: string;
  /** Number of timed round trips. They run once one at a time, and once with three in flight. */
  messages: number;
}

export function channelParamsOf(params: Params): ChannelParams {
  const channel = textParam(params, "channel");
  const codec = textParam(params, "codec");
  if (channel !== "message" && channel !== "method") throw new RangeError(`no such channel: channel=${channel}`);
  if (codec !== "standard" && codec !== "json" && codec !== "binary")
    throw new RangeError(`no such codec: codec=${codec}`);
  return { channel, codec, payload: textParam(params, "payload"), messages: numberParam(params, "messages") };
}
