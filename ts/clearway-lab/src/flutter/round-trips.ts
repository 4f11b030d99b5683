// SPDX-License-Identifier: MIT OR Apache-2.0
// Round trips between the engine's platform thread and the Dart program, which has a thread of its own.
import { jsonMessageCodec, standardMethodCodec, stringCodec } from "clearway/channel";
import { measuredOf } from "../channel/drive.js";
import { same } from "../channel/payload.js";
import { type Mechanism, numberParam } from "../protocol/measured.js";
import { withWindow } from "./open.js";
import { type Row, rowOf } from "./rows.js";

/** Limit for a series of round trips, in milliseconds: a start, and time for each. A round trip with 1 MB takes some milliseconds. */
const SERIES_MS_MAX = 10_000;
const TRIP_MS_MAX = 100;
/** The number of messages before the timed ones, as for the other channels. */
const WARM_UP_MAX = 300;
const IN_FLIGHT = 3;

/** By a value: the engine's codec encodes the message and decodes the answer in the timed part. */
const byValue: Mechanism = (work) => measured(work.params, false);
/** By bytes: the message was encoded before, and the answer stays bytes. */
const byBytes: Mechanism = (work) => measured(work.params, true);

function measured(params: Parameters<typeof rowOf>[0], asBytes: boolean): ReturnType<Mechanism> {
  const { sent, isRight } = messageOf(rowOf(params), asBytes);
  const messages = numberParam(params, "messages");
  return withWindow(async (engine) => {
    const trips = (count: number, inFlight: number) =>
      engine.roundTrips({ ...sent, count, inFlight }, SERIES_MS_MAX + count * TRIP_MS_MAX);
    await trips(Math.min(messages, WARM_UP_MAX), 1);
    const one = await trips(messages, 1);
    const three = await trips(messages, IN_FLIGHT);
    const equal = isRight(one.answer) && isRight(three.answer);
    return measuredOf({ oneNs: one.ns, three: { ns: three.ns, ms: three.ms }, equal });
  });
}

/** Returns what the engine sends for a row, and whether an answer to it is the expected one. */
export function messageOf(row: Row, asBytes: boolean) {
  const { channel, codec, method, value } = row;
  const isSame = (read: (answer: unknown) => unknown) => (answer: unknown) => {
    try {
      return same(read(answer), row.answer);
    } catch {
      // The answer is of another codec.
      return false;
    }
  };
  if (asBytes) {
    const sent = { by: "bytes" as const, codec: "binary", channel, bytes: encoded(row) };
    return { sent, isRight: isSame((answer) => decoded(row, answer as Uint8Array)) };
  }
  const sent =
    method === undefined
      ? { by: "message" as const, codec, channel, value }
      : { by: "method" as const, codec, channel, method, value };
  return { sent, isRight: isSame(plain) };
}

function encoded({ codec, method, value }: Row): Uint8Array {
  if (codec === "string") return stringCodec.encode(value as string);
  if (codec === "json") return jsonMessageCodec.encode(value);
  return standardMethodCodec.call.encode({ method: method ?? "", args: value });
}

function decoded({ codec }: Row, bytes: Uint8Array): unknown {
  if (codec === "string") return stringCodec.decode(bytes) ?? "";
  if (codec === "json") return jsonMessageCodec.decode(bytes);
  const envelope = standardMethodCodec.reply.decode(bytes);
  if (envelope.kind !== "success") throw new Error(`the Dart program answered ${envelope.kind}`);
  return envelope.value;
}

/** Returns the engine's value in the form of the rows: its maps are Maps. */
function plain(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries([...value].map(([key, each]) => [key, plain(each)])) : value;
}

export const engineTrips: Record<string, Mechanism> = {
  "flutter-engine": byValue,
  "flutter-engine-bytes": byBytes,
};
