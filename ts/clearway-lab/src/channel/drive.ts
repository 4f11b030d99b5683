// SPDX-License-Identifier: MIT OR Apache-2.0
// The measuring side of a channel: warms it up, checks the echo, then times round trips one at a time and three in flight.
import { allocatedBy, nowMs } from "#lab-host";
import type { Measured } from "../mechanism/measured.js";
import type { Caller } from "./caller.js";
import { payloadOf } from "./payload.js";
import type { Row } from "./row.js";
import { same } from "./same.js";

/** Crosses from a worker that measures to the main thread: plain data. */
export interface Figures {
  oneNs: Float64Array;
  threeNs: Float64Array;
  threeMs: number;
  equal: boolean;
  copiedBytes?: number;
  allocated?: { count: number; bytes: number };
}

const LANES = 3;
/** As many as are timed, at most this: code is compiled by the optimiser after a few hundred calls. */
const WARM_UP_MAX = 300;
/** Enough that an allocation now and then (a grown scratch, a new page of memory) does not show. */
const COUNTED_MAX = 100;

export async function drive(caller: Caller, row: Row): Promise<Figures> {
  const made = () => caller.prepare?.(payloadOf(row.payload)) ?? payloadOf(row.payload);
  const lanes: unknown[] = Array.from({ length: LANES }, made);
  const once = async (lane: number) => {
    const answer = await caller.call(lanes[lane]);
    if (caller.moves) lanes[lane] = answer;
    return answer;
  };
  const { messages } = row;
  for (let i = 0; i < Math.min(messages, WARM_UP_MAX); i++) await once(i % LANES);
  const first = same(made(), await once(0));
  const oneNs = await timed(once, messages, 1);
  const begin = nowMs();
  const threeNs = await timed(once, messages, LANES);
  const threeMs = nowMs() - begin;
  // Counted apart from what is timed, since counting takes time.
  const counted = Math.min(messages, COUNTED_MAX);
  const some = async () => {
    for (let i = 0; i < counted; i++) await once(0);
  };
  const before = caller.copiedBytes?.();
  await some();
  const after = caller.copiedBytes?.();
  const allocated = await allocatedBy(some);
  const equal = first && same(made(), await once(0));
  return {
    oneNs,
    threeNs,
    threeMs,
    equal,
    ...(before === undefined || after === undefined ? {} : { copiedBytes: (after - before) / counted }),
    ...(allocated && { allocated: { count: allocated.count / counted, bytes: allocated.bytes / counted } }),
  };
}

async function timed(once: (lane: number) => Promise<unknown>, messages: number, lanes: number): Promise<Float64Array> {
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

export function measuredOf({ oneNs, threeNs, threeMs, equal, copiedBytes, allocated }: Figures): Measured {
  const values: Measured["values"] = {
    perMessageOfThree: { unit: "us", value: (threeMs * 1000) / threeNs.length },
  };
  if (copiedBytes !== undefined) values["copiedBytes"] = { unit: "bytes", value: copiedBytes };
  if (allocated !== undefined) {
    values["allocations"] = { unit: "count", value: allocated.count };
    values["allocatedBytes"] = { unit: "bytes", value: allocated.bytes };
  }
  return {
    samples: { roundTrip: { unit: "us", ns: oneNs }, roundTripOfThree: { unit: "us", ns: threeNs } },
    values,
    result: { equal },
  };
}
