// SPDX-License-Identifier: MIT OR Apache-2.0

// A message is one flat array of frames, with four slots per frame. Calls made in one tick thus cross as one message, and
// structured clone copies one dense array instead of an object per call:
//
//   [ op, id, a, b,  op, id, a, b,  ... ]
//
// `id` is the call (or the input stream) that the frame belongs to. Contents of `a` and `b`:
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
//   Chunk       id value        bytes         Ending      -  ids begun        -
//   End         id return value -             Closed      -  -                -
//   Abort       id WireError    -             Unreadable  -  -                -
//   Mark    n (2)  -            -
//   Ring        -  the SharedArrayBuffer      Ring (3)    -  -                -
//   Roll (5)    -  -                          Roll        -  ids of all calls that are here
//                                             Broken (6)  -  -                -
//
// (1) before its Call, which may run as soon as it is read.
// (2) first in a message, with a ring: the message's number since the ring began. 0 is no number: read the ring.
// (3) the worker has loaded its end and can take a ring. Sent if the settings say that the caller offers one.
// (4) before `Ready`: `a` is the task's name, without flags. A name that is no function is not run, and the caller sends the call again.
// (5) a message was lost in one of the directions. A call sent before this that has no answer, and is not in the list, was in it.
// (6) the ring was broken: nothing in it is valid any more.
// (7) also from the worker, for an input stream; its Cancel has no reason.
// (8) the value's cost, of the window by which the listener may be behind (`task/progress.ts`). If negative, the value could not cross, and
//     `a` has the message of the error that replaces it.

/** Kinds of frame. The numbers are part of the wire: add at the end, never renumber. An enum, because bundlers inline it. */
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
}

/** Flags of a call, in the low bits of slot `a`. The bits above them hold the task's index. */
export enum CallFlag {
  /**
   * The worker sends `Started` before it runs the call, and flushes everything before it: the call may have to be killed. In a worker
   * that runs several calls at once, every other call gets a `Started` too while such a call is open.
   */
  guarded = 1,
  /** Throw instead of copying memory. */
  strict = 2,
  /** The caller listens to progress. */
  progress = 4,
}

export const callFlagBits = 3;

/** Settings in the pool's first message to a worker. */
export interface HelloSettings {
  clearway: 1;
  concurrency: number;
  metrics: boolean;
  /** Measure the heap after tasks and report it, because a limit depends on it. */
  reportHeap: boolean;
  /** The pool offers a ring: the worker says when it can take one. */
  ring: boolean;
  /** Cells in which the caller writes the id of a cancelled call; absent without shared memory. */
  cancelCells: Int32Array | undefined;
  /** Name of the lock whose release reports this worker's death. */
  lifeline: string;
}

/** A stream from the caller: its id, and how far the caller may be ahead of the task. */
export type InputStream = [id: number, items: number, bytes: number];

/** How a task answers: with one result, or with a stream. */
export type TaskKind = "function" | "stream";

export const frameSlots = 4;

/** Whether a message has the form of frames. Its contents are not yet checked. */
export function isFrames(message: unknown): message is unknown[] {
  return (
    Array.isArray(message) &&
    message.length >= frameSlots &&
    message.length % frameSlots === 0 &&
    typeof message[0] === "number"
  );
}
