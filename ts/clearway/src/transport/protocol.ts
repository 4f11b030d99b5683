// SPDX-License-Identifier: MIT OR Apache-2.0

// A message is one flat array of frames, four slots a frame, so that calls made in one tick cross as one message and
// structured clone meets one dense array instead of an object a call:
//
//   [ op, id, a, b,  op, id, a, b,  ... ]
//
// `id` names the call (or the input stream) that the frame belongs to. What `a` and `b` hold:
//
//   caller to worker                          worker to caller
//   Hello       -  settings     -             Ready       -  [name, kind][]   -
//   Call (4)    id task|flags   args          Started     id -                -
//   Input (1)   id arg index    InputStream   Result      id value            run us
//   Cancel      id reason       -             Failure     id WireError        run us
//   Credit      id items        bytes         Progress    id value            units (7)
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
// (2) first in a message, beside a ring: the message's number since the ring began. 0 has none: look at the ring.
// (3) the worker has loaded its end, and can take one. Sent where the settings say that the caller would give it.
// (5) a message was lost, either way: a call that was sent before this, and that is neither answered nor here, was in it.
// (6) the ring was broken: nothing in it can be believed any more.
// (4) sent before `Ready`: the task's name instead, and no flags. What is no function is not run, and sent again.
// (7) what the value costs of the window that its listener may be behind (`task/progress.ts`). Below zero the value could not cross,
//     and `a` has the message of the error that stands for it.

/** What a frame says. The numbers are the wire; add at the end, never renumber. An enum, because bundlers inline it. */
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

/** Flags of a call, in the low bits of its slot `a`; the task's index stands above them. */
export enum CallFlag {
  /**
   * Told by `Started` before it runs, with everything before it flushed: it may have to be killed. So is, as long as such a call is
   * open, each other one, where a worker runs several at once.
   */
  guarded = 1,
  /** Throw instead of copying memory. */
  strict = 2,
  /** Somebody listens to progress. */
  progress = 4,
}

export const callFlagBits = 3;

/** What the pool tells a worker first. */
export interface HelloSettings {
  clearway: 1;
  concurrency: number;
  metrics: boolean;
  /** Look at the heap after tasks and report it: some limit depends on it. */
  reportHeap: boolean;
  /** A ring may be had: the worker says when it can take one. */
  ring: boolean;
  /** Cells in which a call's id is written when it is cancelled; absent without shared memory. */
  cancelCells: Int32Array | undefined;
  /** The name of the lock that tells of this worker's death. */
  lifeline: string;
}

/** A stream from the caller: its id, and how far the caller may run ahead of the task. */
export type InputStream = [id: number, items: number, bytes: number];

/** How a task answers: with one result, or with a stream. */
export type TaskKind = "function" | "stream";

export const frameSlots = 4;

/** Whether a message is one of ours, before anything in it is believed. */
export function isFrames(message: unknown): message is unknown[] {
  return (
    Array.isArray(message) &&
    message.length >= frameSlots &&
    message.length % frameSlots === 0 &&
    typeof message[0] === "number"
  );
}
