// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorCode } from "../../error/codes.js";
import { Status } from "../wire/frame.js";

const meanings: Partial<Record<number, readonly [code: ErrorCode, what: string]>> = {
  [Status.notImplemented]: ["not-implemented", "the other end has no such method"],
  [Status.noHandler]: ["no-handler", "the other end has no handler"],
  [Status.dropped]: ["dropped", "dropped by the other end, whose buffer of early messages was full"],
  [Status.cancelled]: ["cancelled", "cancelled by the other end"],
  [Status.timeout]: ["timeout", "the handler ran longer than timeoutMs"],
  [Status.busy]: ["queue-full", "the other end runs as many calls as its callsMax allows"],
};

/** Returns the error for a status that comes without an error. */
export function statusError(status: number, channel: string): ClearwayError {
  const [code, what] = meanings[status] ?? (["protocol", `status ${status}`] as const);
  return new ClearwayError(code, `${channel}: ${what}`);
}

/** Returns the error for a plain reply without bytes. */
export function noAnswer(channel: string): ClearwayError {
  return new ClearwayError("not-implemented", `${channel}: not implemented by the other end, or no handler there`);
}
