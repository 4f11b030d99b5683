// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Extension } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import { decodeReply, wireCodec } from "../wire/call.js";
import { readOutcomes } from "./layout.js";

/** The outcome of a submitted call, as it comes to a callback subject. */
export type CallbackOutcome =
  | { readonly id: string; readonly ok: true; readonly value: unknown }
  | { readonly id: string; readonly ok: false; readonly error: unknown }
  /** The result is too large for a message. Read it with `result(id)` of a pool. */
  | { readonly id: string; readonly ok: undefined };

/**
 * Reads a message that a worker process has published to the callback subject of a call. Throws a `ClearwayError` with the code of a codec, or
 * `protocol`, for bytes that are none. Pass the same extensions as to the pool.
 */
export function readCallback(data: Uint8Array, extensions: readonly Extension[] = []): CallbackOutcome {
  const [outcome] = readOutcomes(data);
  if (outcome === undefined) throw new ClearwayError("protocol", "a callback's message is empty");
  const { id, content } = outcome;
  if (!("bytes" in content)) return { id, ok: undefined };
  return { id, ...decodeReply(wireCodec(extensions), content.bytes) };
}
