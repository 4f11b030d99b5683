// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures one codec with one value. It encodes and decodes many times on one thread and sends nothing.
import { allocatedBy, nowMs } from "#lab-host";
import { payloadOf } from "../channel/payload.js";
import { same } from "../channel/same.js";
import { type Measured, type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import { median } from "../statistics/compare.js";

export interface LabCodec<Message> {
  /** Converts the value to a form that this codec accepts. */
  prepare?(value: unknown): unknown;
  encode(value: unknown): Message;
  decode(message: Message): unknown;
  /** Returns the size of a message in bytes. Absent for structured clone, which makes no message. */
  size?(message: Message): number;
  /** Converts a whole number for codecs that distinguish integers and floats. */
  float?(value: number): unknown;
}

/** Minimum length of a batch, in milliseconds. Chromium's clock has steps of 5 us, so that one step is 2.5 % of a batch. */
const BATCH_MS_MIN = 0.2;
/**
 * The limits of the warm-up. The optimiser compiles code that has run a few thousand times. It does so on its own thread, which
 * may have to wait, so the warm-up has both a minimum of calls and a minimum of time. `msMax` ends the warm-up of slow codecs
 * early: 5000 calls of 0.1 ms would take 500 ms.
 */
const WARM_UP = { callsMin: 5000, msMin: 30, msMax: 400 };
/** Number of counted calls. Counting takes 10 us for each allocation, and a list of 1000 items has 2000 allocations. */
const COUNTED_CALLS = 25;

export function codecMechanism<Message>(make: () => LabCodec<Message>): Mechanism {
  return async ({ params }) => {
    const codec = make();
    const payload = payloadOf(textParam(params, "value"), codec.float);
    const value = codec.prepare?.(payload) ?? payload;
    // The expected value: the decoded value has plain numbers in place of the codec's floats.
    const expected = codec.prepare?.(payload) ?? payloadOf(textParam(params, "value"));
    const message = codec.encode(value);
    const equal = same(expected, codec.decode(codec.encode(value)));
    const batches = numberParam(params, "batches");
    const encode = () => codec.encode(value);
    const decode = () => codec.decode(message);
    const values: Measured["values"] = {};
    const hasNoMessage = codec.size === undefined;
    const encodeUs = hasNoMessage ? 0 : timePerCallUs(encode, batches);
    const decodeUs = timePerCallUs(decode, batches);
    if (!hasNoMessage) {
      values["encode"] = { unit: "us", value: encodeUs };
      values["decode"] = { unit: "us", value: decodeUs };
    }
    values["both"] = { unit: "us", value: encodeUs + decodeUs };
    if (codec.size !== undefined) values["messageBytes"] = { unit: "bytes", value: codec.size(message) };
    const allocated = await allocatedBy(() => {
      for (let i = 0; i < COUNTED_CALLS; i++) {
        decode();
        if (!hasNoMessage) encode();
      }
    });
    if (allocated !== undefined) {
      values["allocations"] = { unit: "count", value: allocated.count / COUNTED_CALLS };
      values["allocatedBytes"] = { unit: "bytes", value: allocated.bytes / COUNTED_CALLS };
    }
    return { samples: {}, values, result: { equal } };
  };
}

/** Returns the time of one call in microseconds: the median of `batches`. Each batch is long enough for the clock. */
function timePerCallUs(call: () => unknown, batches: number): number {
  let count = 1;
  const begin = nowMs();
  for (let calls = 0, ms = 0; ms < WARM_UP.msMin || (calls < WARM_UP.callsMin && ms < WARM_UP.msMax); calls += count) {
    // Doubles the batch until it is long enough. The optimiser has compiled the code when the measured batches start.
    if (batchMs(call, count) < BATCH_MS_MIN) count *= 2;
    ms = nowMs() - begin;
  }
  return median(Array.from({ length: batches }, () => (batchMs(call, count) / count) * 1000));
}

/** Keeps the result of the last call, so that the compiler cannot remove calls whose result is unused. */
let lastResult: unknown;

function batchMs(call: () => unknown, count: number): number {
  const begin = nowMs();
  for (let i = 0; i < count; i++) lastResult = call();
  return nowMs() - begin;
}

/** Exported so that the compiler cannot treat `lastResult` as unused. Nothing calls it. */
export const keptResult = (): unknown => lastResult;
