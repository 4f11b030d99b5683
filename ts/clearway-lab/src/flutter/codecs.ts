// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine's standard codec beside Clearway's, with the same values. The engine is timed in its own process, in C.
import { float64, standardMessageCodec } from "clearway/channel";
import { payloadOf } from "../channel/payload.js";
import { codecs } from "../codec/measure.js";
import { type Measured, type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import { withEngine } from "./open.js";

/** Time for one measurement, in milliseconds: 400 batches of 0.2 ms in both directions take 0.3 s. */
const MEASURE_MS_MAX = 60_000;
/** The engine writes the value null, and a channel of Clearway the message null, which has no bytes. */
const codec = standardMessageCodec.with({ emptyNull: false });

const engineCodec: Mechanism = async ({ params }) => {
  const value = payloadOf(textParam(params, "value"), float64);
  const batches = numberParam(params, "batches");
  return withEngine(async (engine): Promise<Measured> => {
    const { encodeNs, decodeNs, message } = await engine.time("standard", value, batches, MEASURE_MS_MAX);
    const us = (ns: number) => ({ unit: "us" as const, value: ns / 1000 });
    return {
      samples: {},
      values: {
        encode: us(encodeNs),
        decode: us(decodeNs),
        both: us(encodeNs + decodeNs),
        messageBytes: { unit: "bytes", value: message.length },
      },
      result: { equal: Buffer.compare(message, codec.encode(value)) === 0 },
    };
  });
};

export const codecsWithFlutter: Record<string, Mechanism> = {
  "flutter-engine": engineCodec,
  clearway: codecs["clearway"]!,
  "clearway-into": codecs["clearway-into"]!,
};
