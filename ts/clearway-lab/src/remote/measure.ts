// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures calls to other processes: first one at a time, then many in flight. Every answer is checked. Node only.
import { nowMs } from "#lab-host";
import { warmUp } from "../mechanism/warm-up.js";
import { type Measured, type Mechanism, numberParam, WARM_UP_CUT } from "../protocol/measured.js";
import type { Params } from "../protocol/message.js";
import type { RemoteKindName } from "./kinds.js";
import { type OpenRemote, openRemote } from "./open.js";

export interface RemoteParams {
  processes: number;
  payloadBytes: number;
  warmUpMs: number;
  /** Number of timed calls one at a time. */
  calls: number;
  inFlight: number;
  /** Number of timed calls while `inFlight` are open. */
  callsInFlight: number;
}

export function remoteParamsOf(params: Params): RemoteParams {
  const names = ["processes", "payloadBytes", "warmUpMs", "calls", "inFlight", "callsInFlight"] as const;
  return Object.fromEntries(names.map((name) => [name, numberParam(params, name)])) as Record<
    (typeof names)[number],
    number
  >;
}

/** Returns the mechanism of a kind: it starts a server and worker processes, measures, and ends them. */
export function remoteMechanism(name: RemoteKindName): Mechanism {
  return async ({ params }) => {
    const asked = remoteParamsOf(params);
    const remote = await openRemote(name, asked.processes);
    try {
      return await Promise.race([measureCalls(remote, asked), remote.failed]);
    } finally {
      await remote.close();
    }
  };
}

/** Times calls to an open remote. */
export async function measureCalls(remote: Pick<OpenRemote, "call">, params: RemoteParams): Promise<Measured> {
  const bytes = new Uint8Array(params.payloadBytes).fill(7);
  let equal = true;
  const call = async () => {
    const answer = await remote.call(bytes);
    // Comparing every byte would take as long as a small call.
    if (answer.length !== bytes.length || answer.at(-1) !== bytes.at(-1)) equal = false;
  };
  const { warm, ms } = await warmUp(call, params.warmUpMs);
  const ns = new Float64Array(params.calls);
  for (let at = 0; at < params.calls; at++) {
    const begin = nowMs();
    await call();
    ns[at] = (nowMs() - begin) * 1e6;
  }
  // The first round with many in flight lets queues, connections and compiled code reach their final size.
  await manyCalls(call, params.inFlight, Math.min(params.callsInFlight, 4 * params.inFlight));
  const { wallMs, cpuMs } = await manyCalls(call, params.inFlight, params.callsInFlight);
  const perCall = (whole: number) => ({ unit: "us" as const, value: (whole * 1000) / params.callsInFlight });
  return {
    samples: { roundTrip: { unit: "us", ns } },
    values: {
      callsPerSecond: { unit: "events/s", value: (params.callsInFlight / wallMs) * 1000 },
      perCall: perCall(wallMs),
      callerCpu: perCall(cpuMs),
      ...(!warm && { [WARM_UP_CUT]: { unit: "ms" as const, value: ms } }),
    },
    result: { equal },
  };
}

/** Makes `count` calls, `inFlight` at once. Returns the elapsed time, and this process's processor time, in milliseconds. */
async function manyCalls(call: () => Promise<void>, inFlight: number, count: number) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await call();
  };
  const cpu = process.cpuUsage();
  const begin = nowMs();
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, lane));
  const wallMs = nowMs() - begin;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}
