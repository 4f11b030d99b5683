// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips of one payload to a worker that echoes it.
import type { Caller, PortKind } from "../../channel/caller.js";
import { clearwayKind } from "../../channel/kind-clearway.js";
import { cloneKind } from "../../channel/kind-clone.js";
import { payloadOf } from "../../channel/payload.js";
import { same } from "../../channel/same.js";
import { openWorkerEcho } from "../../channel/worker.js";
import { type OpenArm, timedCalls } from "../work.js";

async function open(kind: PortKind, entry: string, payload: string, codec: "standard" | "binary") {
  const { caller, end } = await openWorkerEcho(kind, entry, { channel: "message", codec, payload, messages: 0 });
  const value = payloadOf(payload);
  await checkEcho(caller, payload, value);
  return { works: { trip: timedCalls(() => caller.call(value)) }, close: end };
}

export async function checkEcho(caller: Caller, payload: string, value: unknown): Promise<void> {
  if (!same(value, await caller.call(value)))
    throw new Error(`the echo differs from what was sent: payload=${payload}`);
}

export const clearway = (payload: string, codec: "standard" | "binary"): OpenArm =>
  open.bind(undefined, clearwayKind, "channel-clearway", payload, codec);

export const cloned = (payload: string, codec: "standard" | "binary"): OpenArm =>
  open.bind(undefined, cloneKind, "channel-clone", payload, codec);
