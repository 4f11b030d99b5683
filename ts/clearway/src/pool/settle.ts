// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { revive } from "../transfer/revive.js";
import type { PoolCall } from "./pool-call.js";

/** A last word to the caller, or to the reader of the caller's stream. */
export type Settle = (call: PoolCall, outcome: unknown) => void;

/** The call succeeded. For a stream, `value` is what its generator returned. */
export const tellResult: Settle = (call, value) => {
  if (call.isStream) return endReader(call, value);
  call.settle(revive(value));
  if (call.stream)
    failReader(call, new ClearwayError("not-a-stream", `${call.record.name}() gives one result: await it`));
};

/** The call failed, or was given up. */
export const tellFailure: Settle = (call, reason) => {
  // A promise that stands for a stream is never rejected: its reader hears of it by the iterator.
  failReader(call, reason);
  if (call.isStream) call.tellStream();
  else call.fail(reason);
};

/** The reader ended what it took for a stream: nobody may be left waiting for its promise. */
export const tellEnded: Settle = (call) => {
  if (call.isStream) call.tellStream();
  else call.fail(new ClearwayError("cancelled", `${call.record.name}() was ended by its reader`));
};

/** The call was given up before, and is over now: at most its stream's reader waits for that. */
export const endReader: Settle = (call, value) => call.stream?.tell((consumer) => consumer.ended(value));

/** As {@link endReader}, for a task that failed when it was to end. */
export const failReader: Settle = (call, reason) => call.stream?.tell((consumer) => consumer.failed(reason));
