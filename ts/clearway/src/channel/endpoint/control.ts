// SPDX-License-Identifier: MIT OR Apache-2.0
import type { MethodCall } from "../codec/codec.js";
import { standardMethodCodec } from "../codec/standard.js";
import { Status } from "../wire/frame.js";
import { nothing } from "./connection.js";
import { earlyMax } from "./options.js";
import type { Handler } from "./request-router.js";

/** Channel on which the other end sets how many early messages this end keeps for a channel (spec/wire.md). */
export const controlChannel = "dev.flutter/channel-buffers";

/**
 * Returns the handler of the control channel. `resize [name, count]` sets the size of a channel's buffer. `overflow [name,
 * allowed]` controls a warning about dropped messages. This end never warns, so it only checks the arguments of `overflow`.
 */
export function control(resize: (name: string, count: number) => void): Handler {
  // No request of this channel has more values.
  const { call } = standardMethodCodec.with({ itemsMax: 64 });
  const done = { ...nothing, body: standardMethodCodec.reply.encode({ kind: "success", value: null }) };
  return {
    request(served) {
      try {
        const asked = call.decode(served.message.body);
        const [name, value] = argumentsOf(asked);
        const { method } = asked;
        if (method === "resize") resize(name, count(value));
        else if (method === "overflow" && typeof value !== "boolean")
          throw new RangeError("overflow takes [name, true or false]");
        if (method === "resize" || method === "overflow") served.answer(Status.done, done);
        else served.answer(Status.notImplemented);
      } catch (error) {
        served.fail(error, ({ code, message, details }) =>
          standardMethodCodec.reply.encode({ kind: "error", code, message, details }),
        );
      }
      return undefined;
    },
  };
}

function argumentsOf({ args }: MethodCall): readonly [string, unknown] {
  if (!Array.isArray(args) || args.length !== 2 || typeof args[0] !== "string")
    throw new RangeError("the arguments are [name, value]");
  return [args[0], args[1]];
}

function count(value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return Math.min(value, earlyMax);
  throw new RangeError(`a size must be a whole number of 0 or more: size=${String(value)}`);
}

/** Encodes the message of a `resize` call. */
export function resizeMessage(name: string, size: number): Uint8Array {
  return standardMethodCodec.call.encode({ method: "resize", args: [name, size] });
}
