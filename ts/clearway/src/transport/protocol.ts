// SPDX-License-Identifier: MIT OR Apache-2.0

import { isListOf, isWireError } from "../error/wire-check.js";
import { codedAs, Form } from "../transfer/crossing.js";

// A message is one flat array of frames, with four slots per frame. One message carries the calls of one tick, up to 128. Structured clone copies
// one dense array instead of an object per call:
//
//   [ op, id, a, b,  op, id, a, b,  ... ]
//
// `id` is the id of the frame's call or input stream. Contents of `a` and `b`:
//
//   caller to worker                          worker to caller
//   Hello       -  settings     -             Ready       -  [name, kind, placement][]  -
//   Call (4)    id task|flags   args          Started     id -                -
//   Input (1)   id arg index    InputStream   Result      id value            run us
//   Cancel (7)  id reason       -             Failure     id WireError        run us
//   Credit (7)  id items        bytes         Progress    id value            units (8)
//   Progress    id units read   -             Times       id started ms       finished ms
//   Close       -  -            -             Pong        n  now ms           -
//   Ping        n  -            -             Ledger      -  bytes moved, or a LedgerSide
//   either way (streams)                      Heap        -  bytes            -
//   Chunk (9)   id value        bytes         Ending      -  ids begun        -
//   End         id return value -             Closed      -  -                -
//   Abort       id WireError    -             Unreadable  -  -                -
//   Mark    n (2)  -            -
//   Ring        -  the SharedArrayBuffer      Ring (3)    -  -                -
//   Roll (5)    -  -                          Roll        -  ids of all open calls
//                                             Broken (6)  -  -                -
//                                             SetupFailed -  WireError        -
//   Pace (11)   id budget ms    nodes per ms  Slow        -  task's name      ms (10)
//                                             Slices (12) id port             -
//                                             Sliced (12) id op               [pieces, b]
//
// (1) An Input comes before its Call, because the worker may run a call as soon as it has read the Call.
// (2) With a ring, a Mark is the first frame of each message. `n` counts the messages since the ring was opened. A message with the number
//     0 is not counted; it only makes the receiver read the ring.
// (3) The worker has loaded its end and can take a ring. The worker sends this frame only if the settings offer a ring.
// (4) In a call that is sent before `Ready`, `a` is the task's name, without flags. If no function task has that name, the worker
//     ignores the call, and the caller sends it again.
// (5) One side has noticed that a message was lost. The worker answers with the ids of all its open calls. If a call from before this frame
//     has no answer and its id is not in the list, the lost message held the call or its answer.
// (6) The ring was broken: nothing in it is valid from now on.
// (7) The worker sends this frame, too, for an input stream. Its Cancel has no reason.
// (8) The value's cost in units. A window limits the units that the listener has not read (`task/context.ts`). If the cost is negative,
//     the value could not be sent, and `a` holds the message of the error that replaces it.
// (9) With the id of a callback's Input, `a` is a call of the callback (from the worker) or its answer (`callback.ts`).
// A Call, a Result or a Chunk with the bit `coded` in its op has a value in another form: see below.
//
// (10) The copy of this task's result, or of a value of its stream, took this time in the worker. Sent after the value, in development only.
// (11) With the id of a call, before the call: how long its result may hold the caller in one message, or false. With the id 0: what the caller
//      receives in a millisecond, as it has measured.
// (12) `Slices` has the port with the first piece of a value (`slices/piece.ts`). Once all pieces are posted, `Sliced` has their number, and
//      stands for the Result or the Chunk with the value: its op, and what the slot `b` of that frame would have.

/** Kinds of frame. The numbers are part of the wire format: add at the end, never renumber. An enum, because bundlers inline it. */
export enum Op {
  Hello = 0,
  Call = 1,
  Input = 2,
  Cancel = 3,
  Credit = 4,
  Close = 5,
  Ping = 6,
  Ready = 7,
  Started = 8,
  Result = 9,
  Failure = 10,
  Progress = 11,
  Times = 12,
  Pong = 13,
  Ledger = 14,
  Heap = 15,
  Ending = 16,
  Closed = 17,
  Unreadable = 18,
  Chunk = 19,
  End = 20,
  Abort = 21,
  Ring = 22,
  Mark = 23,
  Roll = 24,
  Broken = 25,
  SetupFailed = 26,
  Slow = 27,
  Slices = 28,
  Sliced = 29,
  Pace = 30,
}

/** Flags of a call, in the low bits of slot `a`. The bits above the flags hold the task's index. */
export enum CallFlag {
  /**
   * The worker sends `Started` before it runs the call, and flushes all earlier frames. The pool may have to kill the worker.
   *
   * If a worker runs several calls at once, it sends `Started` for each of the other calls, too, while a guarded call is open.
   */
  guarded = 1,
  /** Fail with `would-copy` instead of copying binary memory. */
  strict = 2,
  /** The caller listens to the call's progress. */
  progress = 4,
}

export const callFlagBits = 3;

/** Settings in the pool's first message to a worker. */
export interface HelloSettings {
  clearway: 1;
  concurrency: number;
  metrics: boolean;
  /** Whether the worker measures its heap after tasks and reports the bytes. A limit of the pool needs this figure. */
  reportHeap: boolean;
  /** Whether the pool offers a ring. If so, the worker sends `Ring` when it can take one. */
  ring: boolean;
  /** Shared cells in which the caller writes the id of a cancelled call. Undefined without shared memory. */
  cancelCells: Int32Array | undefined;
  /** The data for the module's `setup`. Undefined without the pool's option. */
  setup?: unknown;
  /** Whether the worker reports slow copies. Undefined means: in development. */
  warnings?: boolean | undefined;
  /** How long a result may hold the caller in one message, in milliseconds. False if all results cross in one message. */
  slices?: number | false | undefined;
  /** The name of a lock. The worker holds the lock; its release tells the pool that the worker has ended. */
  lifeline: string;
}

/**
 * A stream from the caller: its id, and the number of items and bytes by which the caller may be ahead of the task. Without `items`, the
 * task adapts that number. A callback is an input of its own kind, whose `items` are the number of calls that may be without an answer. A
 * proxy of an object is a callback with the names of its methods.
 */
export type InputStream = [
  id: number,
  items: number | undefined,
  bytes: number,
  kind?: InputKind,
  methods?: readonly string[],
];

/** The kind of an input that is not a stream of values. */
export enum InputKind {
  callback = 1,
}

/** Whether a task answers with one result or with a stream. */
export type TaskKind = "function" | "stream";

/**
 * A bit of the op of a Call, a Result or a Chunk: a value in the frame is not the app's value itself, but its content in a form
 * (`transfer/crossing.ts`). A Result or a Chunk then has `[form, content]` in slot `a`. A Call has `[args, forms]` in slot `b`. The messages of
 * callbacks have a place for forms of their own.
 */
export const coded = 64;

/** Returns the op for a frame with a value in this form, and the value's slot. */
export function inForm(op: Op, form: Form, value: unknown): [op: Op, slot: unknown] {
  return form === Form.plain ? [op, value] : [op | coded, [form, value]];
}

/** Returns the value of a frame whose op has the bit `coded`, and that was checked. */
export function codedSlot(slot: unknown): unknown {
  const [form, content] = slot as [Form, unknown];
  return codedAs(form, content);
}

export const frameSlots = 4;

/** Returns whether a message has the form of frames. Does not check the contents of the frames. */
export function isFrames(message: unknown): message is unknown[] {
  return (
    Array.isArray(message) &&
    message.length >= frameSlots &&
    message.length % frameSlots === 0 &&
    typeof message[0] === "number"
  );
}

// What a frame must have, so that reading it cannot throw. Code in a worker may post arrays of its own, which look like frames, and a worker
// may be hostile. The values of the app are in slots that are not checked.

const isNumber = (value: unknown): boolean => typeof value === "number";
// One infinite time would make every later mean and load infinite.
const isFiniteNumber: (value: unknown) => boolean = Number.isFinite;
const isText = (value: unknown): boolean => typeof value === "string";
const isOptional = (value: unknown, isValid: (value: unknown) => boolean): boolean =>
  value === undefined || isValid(value);
const isForm = (value: unknown): boolean => value === 0 || value === 1 || value === 2;

/** Returns whether the app may have posted this message itself: its first number is not an op. */
export function isOwnMessage(frames: readonly unknown[]): boolean {
  const bare = (frames[0] as number) & ~coded;
  return !Number.isInteger(frames[0]) || (frames[0] as number) < 0 || bare > Op.Pace;
}

/** Returns whether a frame from a worker can be read. */
export function isFromWorker(op: unknown, id: unknown, a: unknown, b: unknown): boolean {
  if (!isNumber(id)) return false;
  switch (op) {
    case Op.Result:
    case Op.Chunk:
      return isFiniteNumber(b);
    case Op.Result | coded:
    case Op.Chunk | coded:
      return isFiniteNumber(b) && isCodedSlot(a);
    case Op.Sliced:
      return isNumber(a) && isListOf(b, isFiniteNumber);
    case Op.Ledger:
      return isNumber(a) || isSide(a);
    case Op.Ready:
      return isListOf(a, isTask);
    case Op.Failure:
      return isWireError(a) && isFiniteNumber(b);
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
      return isOptional(a, isFiniteNumber);
    case Op.Cancel:
    case Op.Started:
    case Op.Closed:
    case Op.Unreadable:
    case Op.Ring:
    case Op.Broken:
    case Op.Mark:
    case Op.Slices:
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
    case Op.Pace:
      return (a === false || isNumber(a)) && (b as number) >= 0;
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
  // With a reason that every object inherits, such as `__proto__`, the counts would be entered into `Object.prototype`.
  return Object.entries(copies).every(
    ([reason, each]) => !(reason in Object.prototype) && isNumber(each?.bytes) && isNumber(each?.count),
  );
}
