// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseDetached } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { decodeError, encodeError } from "../error/wire.js";
import { isBuffer } from "../host/tag.js";
import { isGenerator, type TaskDefinition } from "../task/task.js";
import { enter, type LedgerSide } from "../transfer/ledger.js";
import { movedAway, movedBefore, notCloneable, wouldCopy } from "../transfer/refusal.js";
import { revive } from "../transfer/revive.js";
import { makeReady } from "../transfer/search.js";
import { copyPlain, notPlain } from "./copy.js";

/**
 * What a caller gets of a result, as if it had crossed: what can move is taken from the task, the rest is copied, and the
 * ledger says so. Throws what the worker's answer would have been: `not-cloneable`, `would-copy`; `task` is named in it.
 */
export function cross(
  value: unknown,
  task: string,
  definition: TaskDefinition,
  strict: boolean,
  side: LedgerSide,
): unknown {
  const plain = copyPlain(value);
  if (plain !== notPlain) return plain;
  if (isGenerator(value)) {
    throw new ClearwayError(
      "not-cloneable",
      "the task returned a generator: write the task itself as one (async function*), so that its callers get a stream",
    );
  }
  const found = makeReady(value, definition.moveSearchLimit);
  const copy = found.copies[0];
  if (copy !== undefined && strict) throw wouldCopy(copy.reason, copy.bytes);
  const crossed = clone(found.value, found.transfer, `the result of ${task}()`, strict);
  enter(side, crossed.movedBytes < 0 ? refused(found, -crossed.movedBytes) : found);
  return revive(crossed.value);
}

/** Memory that is not its owner's to give (WebAssembly's) shows only now: it is copied after all, where that is allowed. */
function clone(
  value: unknown,
  transfer: readonly object[],
  what: string,
  strict: boolean,
): { value: unknown; movedBytes: number } {
  try {
    transfer.forEach(refuseDetached);
    return { value: structuredClone(value, { transfer: transfer as Transferable[] }), movedBytes: 0 };
  } catch (reason) {
    const buffers = transfer.filter(isBuffer);
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    if (movedBefore(buffers)) throw movedAway(what, reason);
    if (buffers.length === 0) throw notCloneable(what, reason);
    if (strict) throw wouldCopy("not-transferable", bytes);
    const rest = transfer.filter((each) => !isBuffer(each));
    try {
      return { value: structuredClone(value, { transfer: rest as Transferable[] }), movedBytes: -bytes };
    } catch (again) {
      throw notCloneable(what, again);
    }
  }
}

function refused(found: Parameters<typeof enter>[1], bytes: number): Parameters<typeof enter>[1] {
  return {
    movedBytes: found.movedBytes - bytes,
    sharedBytes: found.sharedBytes,
    copies: [...found.copies, { reason: "not-transferable", bytes }],
  };
}

/**
 * A thrown value as its caller would get it from a worker: nothing in it is the task's own any more, and its class is the
 * nearest that crosses. The stack is the native one, which has the caller's half already.
 */
export function crossError(reason: unknown): unknown {
  return decodeError(encodeError(reason));
}
