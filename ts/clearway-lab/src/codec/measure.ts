// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures one codec with one value. It encodes and decodes many times on one thread and sends nothing. Also has the codecs that need no other
// package.
import { float64, standardMessageCodec } from "clearway/channel";
import { hostName, nowMs, serializer } from "#lab-host";
import { payloadOf, plainValue, same } from "../channel/payload.js";
import { type Measured, type Mechanism, numberParam, textParam, WARM_UP_CUT } from "../protocol/measured.js";
import { median } from "../statistics/rounds.js";
import { WarmUpDetector } from "../statistics/warm-up.js";

interface LabCodec<Message> {
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
 * The limits of the warm-up. It ends when calls stop getting faster, but not before `callsMin` calls: the optimiser compiles code that has run
 * a few thousand times. `msMax` ends it for slow codecs, which then may still become faster.
 */
const WARM_UP = { windowMs: 4, callsMin: 5000, msMax: 800 };
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
    const encoded = hasNoMessage ? { us: 0 } : timePerCall(encode, batches);
    const decoded = timePerCall(decode, batches);
    const [encodeUs, decodeUs] = [encoded.us, decoded.us];
    const cutMs = encoded.cutMs ?? decoded.cutMs;
    if (cutMs !== undefined) values[WARM_UP_CUT] = { unit: "ms", value: cutMs };
    if (!hasNoMessage) {
      values["encode"] = { unit: "us", value: encodeUs };
      values["decode"] = { unit: "us", value: decodeUs };
    }
    values["both"] = { unit: "us", value: encodeUs + decodeUs };
    if (codec.size !== undefined) values["messageBytes"] = { unit: "bytes", value: codec.size(message) };
    return { samples: {}, values, result: { equal } };
  };
}

interface TimedCalls {
  /** The time of one call in microseconds: the median of the batches. */
  us: number;
  /** The length of a warm-up that ended before the calls stopped getting faster. */
  cutMs?: number;
}

function timePerCall(call: () => unknown, batches: number): TimedCalls {
  const { count, ...cut } = warmedBatch((calls) => batchMs(call, calls));
  return { us: median(Array.from({ length: batches }, () => (batchMs(call, count) / count) * 1000)), ...cut };
}

/**
 * Makes batches of calls until the calls stop getting faster. Returns the number of calls that make a batch long enough for the clock, and the
 * length of a warm-up that ended too early. `timeMs` makes a number of calls and returns how long they took.
 */
export function warmedBatch(timeMs: (calls: number) => number): { count: number; cutMs?: number } {
  const detector = new WarmUpDetector();
  let [count, calls, spentMs] = [1, 0, 0];
  for (;;) {
    let [windowMs, fastestMs] = [0, Number.POSITIVE_INFINITY];
    while (windowMs < WARM_UP.windowMs) {
      const ms = timeMs(count);
      windowMs += ms;
      calls += count;
      // Doubles the batch until it is long enough. The optimiser has compiled the code when the measured batches start.
      if (ms < BATCH_MS_MIN) count *= 2;
      else fastestMs = Math.min(fastestMs, ms / count);
    }
    spentMs += windowMs;
    // The fastest batch, not the mean: on a busy machine, other programs interrupt most windows.
    const isWarm = detector.isWarmAfter(fastestMs);
    if (isWarm && calls >= WARM_UP.callsMin) return { count };
    if (spentMs >= WARM_UP.msMax) return isWarm ? { count } : { count, cutMs: spentMs };
  }
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

// Clearway's standard codec, and the codecs that the host has itself: JSON, structured clone and, in Node, v8.serialize.

const standard = () => ({
  encode: (value: unknown) => standardMessageCodec.encode(value),
  decode: (message: Uint8Array) => standardMessageCodec.decode(message),
  size: (message: Uint8Array) => message.length,
  float: float64,
});

/** Encodes into existing memory and decodes to views of the message, as with a slab of shared memory. */
const standardInto = () => {
  const slab = new Uint8Array(1 << 16);
  return {
    encode: (value: unknown) => slab.subarray(0, standardMessageCodec.encodeInto(value, slab)),
    decode: (message: Uint8Array) => standardMessageCodec.decode(message, { owned: true }),
    size: (message: Uint8Array) => message.length,
    float: float64,
  };
};

const json = () => ({
  prepare: plainValue,
  encode: (value: unknown) => JSON.stringify(value),
  decode: (message: string): unknown => JSON.parse(message),
  size: (message: string) => new TextEncoder().encode(message).length,
});

const clone = () => ({
  encode: (value: unknown) => value,
  decode: (value: unknown): unknown => structuredClone(value),
});

export const codecs: Record<string, Mechanism> = {
  clearway: codecMechanism(standard),
  "clearway-into": codecMechanism(standardInto),
  json: codecMechanism(json),
  "structured-clone": codecMechanism(clone),
  ...(hostName === "node" ? { "v8-serialize": codecMechanism(() => serializer) } : {}),
};
