// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers one case with Flutter's own engine. Its errors have no offset, so `offset` is null, and the code is always `refused`.
import { float64 } from "clearway/channel";
import { CODECS } from "../../ts/clearway-lab/src/flutter/engine.mjs";
import { NoSuchValueError } from "../../ts/clearway-lab/src/flutter/values.mjs";
import { read, readPlain, write } from "../ts/notation.mjs";

const invalid = { code: "invalid-argument", offset: 0 };

/** Returns the answer to a case: the case's id, and `hex`, `value` or `error`. Rejects if the engine's process has ended. */
export async function answer(engine, { id = null, ...asked }) {
  if (!CODECS.includes(asked.codec)) return { id, error: invalid };
  try {
    if (asked.op === "encode")
      return { id, hex: (await engine.encode(asked.codec, engineValue(asked))).toString("hex") };
    if (asked.op !== "decode" || !/^([0-9a-f]{2})*$/i.test(asked.hex)) return { id, error: invalid };
    return {
      id,
      value: notationOf(asked, await engine.decode(asked.codec, Buffer.from(asked.hex, "hex"), asked.as, float64)),
    };
  } catch (error) {
    if (!(error instanceof NoSuchValueError) && error.code !== "refused") throw error;
    return { id, error: { code: "refused", offset: null, why: error.message } };
  }
}

function engineValue({ codec, value }) {
  const of = codec.startsWith("json") ? readPlain : read;
  if (!codec.endsWith("-method")) return of(value);
  if ("call" in value) return ["call", value.call.method, of(value.call.args ?? null)];
  if ("success" in value) return ["success", of(value.success)];
  return ["error", value.error.code, value.error.message, of(value.error.details ?? null)];
}

function notationOf({ codec }, value) {
  if (!codec.endsWith("-method")) return write(value);
  const [kind, ...parts] = value;
  if (kind === "call") return { call: { method: parts[0], args: write(parts[1]) } };
  if (kind === "success") return { success: write(parts[0]) };
  return { error: { code: parts[0], message: parts[1], details: write(parts[2]) } };
}
