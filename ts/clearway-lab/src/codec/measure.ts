// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures one codec with one value: many encodings and decodings on one thread, without sending.
import { allocatedBy, nowMs } from "#lab-host";
import { payloadOf } from "../channel/payload.js";
import { same } from "../channel/same.js";
import { type Measured, type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import { median } from "../statistics/compare.js";

export interface LabCodec<Message> {
  /** Converts the value for this codec. */
  prepare?(value: unknown): unknown;
  encode(value: unknown): Message;
  decode(message: Message): unknown;
  /** Returns the bytes of a message. Absent without a message (structured clone is one step). */
  size?(message: Message): number;
  /** Marks a whole number as a float, for codecs that distinguish integers and floats. */
  float?(value: number): unknown;
}

/** The shortest batch, which is timed as one: 40 of Chromium's clock steps of 5 us, so that a step is 2.5 % of it. */
const BATCH_MS_MIN = 0.2;
/**
 * The warm-up lasts until the optimiser has compiled code that runs a few thousand times. The optimiser has its own thread,
 * which may have to wait, so calls count as well as time. A call of 0.1 ms is not made 5000 times.
 */
const WARM_UP = { callsMin: 5000, msMin: 30, msMax: 400 };
/** Counting takes 10 us for each allocation, and a list of 1000 items has 2000. */
const COUNTED = 25;

export function codecMechanism<Message>(make: () => LabCodec<Message>): Mechanism {
  return async ({ params }) => {
    const codec = make();
    const made = payloadOf(textParam(params, "value"), codec.float);
    const value = codec.prepare?.(made) ?? made;
    // The decoded value has plain numbers where the codec was given a float.
    const wanted = codec.prepare?.(made) ?? payloadOf(textParam(params, "value"));
    const message = codec.encode(value);
    const equal = same(wanted, codec.decode(codec.encode(value)));
    const batches = numberParam(params, "batches");
    const encode = () => codec.encode(value);
    const decode = () => codec.decode(message);
    const values: Measured["values"] = {};
    const oneStep = codec.size === undefined;
    const encodeUs = oneStep ? 0 : timeOf(encode, batches);
    const decodeUs = timeOf(decode, batches);
    if (!oneStep) {
      values["encode"] = { unit: "us", value: encodeUs };
      values["decode"] = { unit: "us", value: decodeUs };
    }
    values["both"] = { unit: "us", value: encodeUs + decodeUs };
    if (codec.size !== undefined) values["messageBytes"] = { unit: "bytes", value: codec.size(message) };
    const allocated = await allocatedBy(() => {
      for (let i = 0; i < COUNTED; i++) {
        decode();
        if (!oneStep) encode();
      }
    });
    if (allocated !== undefined) {
      values["allocations"] = { unit: "count", value: allocated.count / COUNTED };
      values["allocatedBytes"] = { unit: "bytes", value: allocated.bytes / COUNTED };
    }
    return { samples: {}, values, result: { equal } };
  };
}

/** Returns the microseconds of one call: the median of `batches`, each long enough for the clock. */
function timeOf(call: () => unknown, batches: number): number {
  let count = 1;
  const begin = nowMs();
  for (let calls = 0, ms = 0; ms < WARM_UP.msMin || (calls < WARM_UP.callsMin && ms < WARM_UP.msMax); calls += count) {
    // Doubled until a batch is long enough; code has been compiled by the time it is measured.
    if (batchMs(call, count) < BATCH_MS_MIN) count *= 2;
    ms = nowMs() - begin;
  }
  return median(Array.from({ length: batches }, () => (batchMs(call, count) / count) * 1000));
}

/** Keeps each call's result until the next, so that the compiler cannot leave a call out as unused. */
let kept: unknown;

function batchMs(call: () => unknown, count: number): number {
  const begin = nowMs();
  for (let i = 0; i < count; i++) kept = call();
  return nowMs() - begin;
}

/** Never called; exported so that `kept` is not dead. */
export const lastKept = (): unknown => kept;
