// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips of one payload to a worker, or to a child process, that echoes it.
import { nowMs } from "#lab-host";
import type { Caller, PortKind } from "../../channel/caller.js";
import { clearwayKind } from "../../channel/clearway.js";
import { cloneKind } from "../../channel/kind-clone.js";
import { payloadOf, same } from "../../channel/payload.js";
import { openProcessEcho, type ProcessName } from "../../channel/process.js";
import { openWorkerEcho } from "../../channel/worker.js";
import { type OpenArm, timedCalls, type Work } from "../work.js";

type Codec = "standard" | "binary";

const IN_FLIGHT = 3;
/** Round trips of each in a run. */
const TRIPS = 10;

/** Three chains of calls at once. The cost is the time of a run, divided by all its calls. */
const inFlight = (call: () => Promise<unknown>): Work => ({
  calls: IN_FLIGHT * TRIPS,
  async run(costsNs) {
    const chain = async (): Promise<void> => {
      for (let i = 0; i < TRIPS; i++) await call();
    };
    const from = nowMs();
    await Promise.all(Array.from({ length: IN_FLIGHT }, chain));
    costsNs.push(((nowMs() - from) * 1e6) / (IN_FLIGHT * TRIPS));
  },
});

async function open(kind: PortKind, name: string, payload: string, codec: Codec) {
  const { caller, end } = await openWorkerEcho(kind, name, { channel: "message", codec, payload, messages: 0 });
  const value = payloadOf(payload);
  await checkEcho(caller, payload, value);
  const call = () => caller.call(value);
  return {
    works: { trip: timedCalls(call), "trips-three": inFlight(call) },
    close: end,
  };
}

export async function checkEcho(caller: Caller, payload: string, value: unknown): Promise<void> {
  if (!same(value, await caller.call(value)))
    throw new Error(`the echo differs from what was sent: payload=${payload}`);
}

export const clearway = (payload: string, codec: Codec): OpenArm =>
  open.bind(undefined, clearwayKind, "clearway", payload, codec);

export const cloned = (payload: string, codec: Codec): OpenArm =>
  open.bind(undefined, cloneKind, "clone", payload, codec);

// Round trips of one payload to a child process that echoes it.

async function openStdio(name: ProcessName, payload: string, codec: Codec) {
  const { caller, end } = await openProcessEcho(name, { channel: "message", codec, payload, messages: 0 });
  const value = payloadOf(payload);
  await checkEcho(caller, payload, value);
  return { works: { trip: timedCalls(() => caller.call(value)) }, close: end };
}

export const stdioClearway = (payload: string, codec: Codec): OpenArm =>
  openStdio.bind(undefined, "clearway", payload, codec);

export const stdioIpc = (payload: string, codec: Codec): OpenArm => openStdio.bind(undefined, "ipc", payload, codec);
