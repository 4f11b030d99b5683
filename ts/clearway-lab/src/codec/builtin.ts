// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's standard codec, and the codecs that the host has itself: JSON, structured clone and, in Node, v8.serialize.
import { float64, standardMessageCodec } from "clearway/channel";
import { hostName, serializer } from "#lab-host";
import { plainValue } from "../channel/payload.js";
import type { Mechanism } from "../protocol/measured.js";
import { codecMechanism } from "./measure.js";

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
