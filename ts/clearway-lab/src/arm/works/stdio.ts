// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips of one payload to a child process that echoes it.
import { payloadOf } from "../../channel/payload.js";
import { openProcessEcho, type ProcessName } from "../../channel/process.js";
import { type OpenArm, timedCalls } from "../work.js";
import { checkEcho } from "./channel.js";

type Codec = "standard" | "binary";

async function open(name: ProcessName, payload: string, codec: Codec) {
  const { caller, end } = await openProcessEcho(name, { channel: "message", codec, payload, messages: 0 });
  const value = payloadOf(payload);
  await checkEcho(caller, payload, value);
  return { works: { trip: timedCalls(() => caller.call(value)) }, close: end };
}

export const clearway = (payload: string, codec: Codec): OpenArm => open.bind(undefined, "clearway", payload, codec);

export const ipc = (payload: string, codec: Codec): OpenArm => open.bind(undefined, "ipc", payload, codec);
