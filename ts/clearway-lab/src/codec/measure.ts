// SPDX-License-Identifier: MIT OR Apache-2.0
// One codec and one value: encoded and decoded many times over, on one thread, nothing sent.
import { allocatedBy, nowMs } from "#lab-host";
import { payloadOf } from "../channel/payload.js";
import { same } from "../channel/same.js";
import { type Measured, type Mechanism, numberParam, textParam } from "../mechanism/measured.js";
import { median } from "../statistics/compare.js";

export interface LabCodec<Message> {
  /** The value as this codec is given it. */
  prepare?(value: unknown): unknown;
  encode(value: unknown): Message;
  decode(message: Message): unknown;
  /** Bytes of a message; absent where there is none (structured clone, which is one step). */
  size?(message: Message): number;
  /** How a codec that keeps integers and floats apart is told of a whole float. */
  float?(value: number): unknown;
}

/** A batch is timed as one, at least this long: 40 of Chromium's clock steps of 5 us, so that a step is 2.5 % of it. */
const BATCH_MS_MIN = 0.2;
/**
 * Until code that runs a few thousand times is compiled by the optimiser, which has a thread of its own that may have to wait:
 * by calls, not by time alone. A call of 0.1 ms is not made 5000 times.
 */
const WARM_UP = { callsMin: 5000, msMin: 30, msMax: 400 };
/** Counting takes 10 us an allocation, and a list of 1000 items has 2000. */
const COUNTED = 25;

export function codecMechanism<Message>(make: () => LabCodec<Message>): Mechanism {
  return async ({ params }) => {
    const codec = make();
    const made = payloadOf(textParam(params, "value"), codec.float);
    const value = codec.prepare?.(made) ?? made;
    // What is decoded holds plain numbers where a codec was told of a float.
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

/** Microseconds of one call: the median of `batches`, each long enough for the clock. */
function timeOf(call: () => unknown, batches: number): number {
  let count = 1;
  const begin = nowMs();
  for (let calls = 0, ms = 0; ms < WARM_UP.msMin || (calls < WARM_UP.callsMin && ms < WARM_UP.msMax); calls += count) {
    // Doubled until a batch is long enough: what is timed later has been compiled by then.
    if (batchMs(call, count) < BATCH_MS_MIN) count *= 2;
    ms = nowMs() - begin;
  }
  return median(Array.from({ length: batches }, () => (batchMs(call, count) / count) * 1000));
}

/** What the calls return is kept until the next, so that none can be left out as unused. */
let kept: unknown;

function batchMs(call: () => unknown, count: number): number {
  const begin = nowMs();
  for (let i = 0; i < count; i++) kept = call();
  return nowMs() - begin;
}

/** Read by nobody; exported so that `kept` is not dead. */
export const lastKept = (): unknown => kept;
