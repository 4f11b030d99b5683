// SPDX-License-Identifier: MIT OR Apache-2.0
// The measuring side of a channel. It warms the channel up and checks the echo. Then it times round trips: first one at a time,
// then three in flight.
import { nowMs } from "#lab-host";
import { type Measured, WARM_UP_CUT } from "../protocol/measured.js";
import { warmUp } from "../statistics/warm-up.js";
import type { Caller, ChannelParams } from "./caller.js";
import { payloadOf, same } from "./payload.js";

/** The result of a measurement. It is plain data, because a measuring worker posts it to the main thread. */
export interface Figures {
  oneNs: Float64Array;
  /** The round trips with three in flight. */
  three: { ns: Float64Array; ms: number };
  equal: boolean;
  /** The length of the warm-up, if its time ran out before the calls stopped getting faster. */
  warmUpCutMs?: number;
  copiedBytes?: number;
}

const LANES = 3;
/** The warm-up's windows, in milliseconds. */
const WARM_UP_WINDOW_MS = 10;
/**
 * Maximum length of the warm-up, in milliseconds: of quick measurements, with few messages, and of others. A warm-up needs ten windows
 * without a gain, so a limit near ten windows would cut every one that has a gain.
 */
const WARM_UP_QUICK_MS = 600;
const WARM_UP_MS = 2000;
const QUICK_MESSAGES_MAX = 300;
/** Maximum number of calls whose copies are counted. */
const COUNTED_MAX = 30;

/** Returns the payload in the form that the mechanism sends. */
function payloadFor(caller: Caller, { payload }: ChannelParams): unknown {
  return caller.prepare?.(payloadOf(payload)) ?? payloadOf(payload);
}

/**
 * Returns a function that makes a call on a lane, 0 to 2. Each lane sends its own payload. If a call takes the payload's memory, the lane
 * sends the answer in its next call.
 */
function laneCalls(caller: Caller, params: ChannelParams): (lane: number) => Promise<unknown> {
  const lanes: unknown[] = Array.from({ length: LANES }, () => payloadFor(caller, params));
  return async (lane) => {
    const answer = await caller.call(lanes[lane]);
    if (caller.moves) lanes[lane] = answer;
    return answer;
  };
}

export async function drive(caller: Caller, params: ChannelParams): Promise<Figures> {
  const made = (): unknown => payloadFor(caller, params);
  const once = laneCalls(caller, params);
  const { messages } = params;
  // Three in flight, which runs the code of both measurements.
  const three = () => Promise.all(Array.from({ length: LANES }, (_, lane) => once(lane)));
  const warmUpMsMax = messages > QUICK_MESSAGES_MAX ? WARM_UP_MS : WARM_UP_QUICK_MS;
  const { warm, ms: warmUpMs } = await warmUp(three, warmUpMsMax, nowMs, WARM_UP_WINDOW_MS);
  const first = same(made(), await once(0));
  const timed = await inFlight(once, messages);
  const counted = Math.min(messages, COUNTED_MAX);
  const before = caller.copiedBytes?.();
  for (let i = 0; i < counted; i++) await once(0);
  const after = caller.copiedBytes?.();
  const equal = first && same(made(), await once(0));
  return {
    ...timed,
    equal,
    ...(!warm && { warmUpCutMs: warmUpMs }),
    ...(before === undefined || after === undefined ? {} : { copiedBytes: (after - before) / counted }),
  };
}

/** Times calls: first one at a time, then three in flight. `once` gets the number of its lane, 0 to 2. */
export async function inFlight(once: (lane: number) => Promise<unknown>, messages: number) {
  const oneNs = await timedOver(once, messages, 1);
  const begin = nowMs();
  const ns = await timedOver(once, messages, LANES);
  return { oneNs, three: { ns, ms: nowMs() - begin } };
}

async function timedOver(once: (lane: number) => Promise<unknown>, messages: number, lanes: number) {
  const ns = new Float64Array(messages);
  let next = 0;
  const lane = async (index: number) => {
    for (let at = next++; at < messages; at = next++) {
      const begin = nowMs();
      await once(index);
      ns[at] = (nowMs() - begin) * 1e6;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return ns;
}

export function measuredOf({ oneNs, three, equal, warmUpCutMs, copiedBytes }: Figures): Measured {
  const values: Measured["values"] = {};
  if (warmUpCutMs !== undefined) values[WARM_UP_CUT] = { unit: "ms", value: warmUpCutMs };
  values["perMessageOfThree"] = { unit: "us", value: (three.ms * 1000) / three.ns.length };
  if (copiedBytes !== undefined) values["copiedBytes"] = { unit: "bytes", value: copiedBytes };
  return {
    samples: { roundTrip: { unit: "us", ns: oneNs }, roundTripOfThree: { unit: "us", ns: three.ns } },
    values,
    result: { equal },
  };
}
