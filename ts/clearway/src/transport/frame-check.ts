// SPDX-License-Identifier: MIT OR Apache-2.0
import { isListOf, isWireError } from "../error/wire-check.js";
import { coded, Op } from "./protocol.js";

// What a frame must have, so that reading it cannot throw. Code in a worker may post arrays of its own, which look like frames, and a worker
// may be hostile. The values of the app are in slots that are not checked.

const isNumber = (value: unknown): boolean => typeof value === "number";
const isText = (value: unknown): boolean => typeof value === "string";
const isOptional = (value: unknown, isValid: (value: unknown) => boolean): boolean =>
  value === undefined || isValid(value);
const isForm = (value: unknown): boolean => value === 0 || value === 1 || value === 2;

/** Returns whether the app may have posted this message itself: its first number is not an op. */
export function isOwnMessage(frames: readonly unknown[]): boolean {
  const bare = (frames[0] as number) & ~coded;
  return !Number.isInteger(frames[0]) || (frames[0] as number) < 0 || bare > Op.Slow;
}

/** Returns whether a frame from a worker can be read. */
export function isFromWorker(op: unknown, id: unknown, a: unknown, b: unknown): boolean {
  if (!isNumber(id)) return false;
  switch (op) {
    case Op.Result:
    case Op.Chunk:
      return isNumber(b);
    case Op.Result | coded:
    case Op.Chunk | coded:
      return isNumber(b) && isCodedSlot(a);
    case Op.Ledger:
      return isNumber(a) || isSide(a);
    case Op.Ready:
      return isListOf(a, isTask);
    case Op.Failure:
      return isWireError(a) && isNumber(b);
    case Op.SetupFailed:
      return isWireError(a);
    case Op.Progress:
      return isNumber(b) && ((b as number) >= 0 || isText((a as { message?: unknown } | null | undefined)?.message));
    case Op.Credit:
    case Op.Times:
      return isNumber(a) && isNumber(b);
    case Op.Ending:
    case Op.Roll:
      return isListOf(a, isNumber);
    case Op.Pong:
      return isNumber(a);
    case Op.Heap:
      return isOptional(a, isNumber);
    case Op.Cancel:
    case Op.Started:
    case Op.Closed:
    case Op.Unreadable:
    case Op.Ring:
    case Op.Broken:
    case Op.Mark:
      return true;
    case Op.Slow:
      return isText(a) && isNumber(b);
    default:
      return false;
  }
}

/** Returns whether a frame from the caller can be read. */
export function isFromCaller(op: unknown, id: unknown, a: unknown, b: unknown): boolean {
  if (!isNumber(id)) return false;
  switch (op) {
    case Op.Call:
      return isHeader(a) && Array.isArray(b);
    case Op.Call | coded:
      return isHeader(a) && Array.isArray(b) && Array.isArray(b[0]) && isFormsOf(b[1], b[0].length);
    case Op.Input:
      return isNumber(a) && isInput(b);
    case Op.Cancel:
      return isOptional(a, isWireError);
    case Op.Credit:
      return isNumber(a) && isNumber(b);
    case Op.Progress:
      return isNumber(a);
    case Op.Chunk:
      return isNumber(b);
    case Op.Chunk | coded:
      return isNumber(b) && isCodedSlot(a);
    case Op.Abort:
      return isWireError(a);
    case Op.Ring:
      return typeof SharedArrayBuffer === "function" && a instanceof SharedArrayBuffer;
    case Op.End:
    case Op.Close:
    case Op.Ping:
    case Op.Roll:
    case Op.Mark:
    case Op.Hello:
      return true;
    default:
      return false;
  }
}

/** Returns whether a value can be the forms of a list of this length. */
export function isFormsOf(forms: unknown, length: number): boolean {
  return isListOf(forms, isForm) && (forms as unknown[]).length === length;
}

function isCodedSlot(slot: unknown): boolean {
  return Array.isArray(slot) && isForm(slot[0]);
}

function isHeader(value: unknown): boolean {
  return isNumber(value) || isText(value);
}

function isTask(task: unknown): boolean {
  if (!Array.isArray(task)) return false;
  const [name, kind, placement] = task;
  return isText(name) && (kind === "function" || kind === "stream") && isOptional(placement, isText);
}

function isInput(input: unknown): boolean {
  if (!Array.isArray(input)) return false;
  const [id, items, bytes, kind, methods] = input;
  const isKnown = isNumber(id) && isOptional(items, isNumber) && isNumber(bytes) && isOptional(kind, isNumber);
  return isKnown && isOptional(methods, (each) => isListOf(each, isText));
}

function isSide(side: unknown): boolean {
  if (typeof side !== "object" || side === null) return false;
  const { movedBytes, sharedBytes, copiedBytes, copies } = side as Record<string, unknown>;
  if (![movedBytes, sharedBytes, copiedBytes].every(isNumber) || typeof copies !== "object" || copies === null)
    return false;
  return Object.values(copies).every((each) => isNumber(each?.bytes) && isNumber(each?.count));
}
