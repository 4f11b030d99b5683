// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The first value of every message. A message is one list of the standard codec: `[op, ...fields]`.
 *
 * The fields of each message are listed here. `?` marks a field that may be missing at the end of the list. `call` messages go to the queue
 * group of the module. In request mode, every message between a caller and a worker has the caller's subject for this call as its NATS reply
 * subject, or comes to that subject. A message to that subject has the worker's own subject as its NATS reply subject, unless it is the last
 * one of the call.
 */
export const Op = {
  /** A call: task, list of arguments, options? (see `call.ts`). */
  call: 1,
  /** The outcome of a call: the result. */
  result: 2,
  /** The outcome of a call: the thrown error in the form of `clearway/remote`. */
  failure: 3,
  /** Worker to caller: the worker has the call. Fields: whether the task is a stream. */
  accepted: 4,
  /** Values of a stream. Fields: index of the input (-1 for the result), list of values. */
  items: 5,
  /** The end of a stream. Fields: index of the input (-1 for the result), the return value. */
  end: 6,
  /** The failure of an input stream. Fields: index of the input, the error. */
  abort: 7,
  /** Credit for a stream. Fields: index of the input (-1 for the result), number of values, bytes. */
  credit: 8,
  /** Caller to worker: cancels the call. Fields: the error code that the task's signal has as its reason. */
  cancel: 9,
  /** Worker to caller: values that the task passed to `progress()`. Fields: list of values. */
  progress: 10,
  /** The next message comes in parts, because it is larger than NATS allows. Fields: its size in bytes, true unless it begins a call?. */
  large: 11,
  /** A part of a large message. Fields: the bytes. */
  part: 12,
  /** Credit for the parts of a large message. Fields: bytes. */
  more: 13,
  /** Worker to caller: the calls that the worker still has. Fields: list of the tokens of these calls. */
  alive: 14,
  /** Caller to worker: answers `alive`. Fields: list of the tokens of calls that the caller no longer waits for. */
  here: 15,
  /** Asks the workers of a module who they are. No fields. */
  who: 16,
  /** Answers `who`, and announces a new worker. Fields: worker id, version of the module, version of this protocol. */
  worker: 17,
  /** Announces that a worker takes no more calls. Fields: worker id, version. */
  left: 18,
  /** Asks a worker for its advice. No fields. */
  advise: 19,
  /** Answers `advise`. Fields: list of `[task, calls, measured runs, mean time in microseconds]`. */
  advice: 20,
} as const;

/** Version of this protocol. A worker and a caller with different versions do not talk to each other. */
export const protocolVersion = 1;

// The first bytes of every message, by the standard codec: the tag of a list, its size in one byte, the tag of an int32, and the op.
const listTag = 12;
const int32Tag = 3;
const opAt = 3;

/**
 * Returns whether a message is a part of a large one, without decoding it. The content of a part is copied to its place at once, so the
 * decoder may return a view of the message.
 */
export function isPart(bytes: Uint8Array): boolean {
  return bytes[0] === listTag && bytes[2] === int32Tag && bytes[opAt] === Op.part;
}

/** The NATS subjects of a module. */
export interface Subjects {
  /** Calls. The workers are one queue group. */
  readonly call: string;
  /** Cancels of calls whose worker the caller does not know. Every worker receives them. */
  readonly cancel: string;
  /** Workers that start and end. Every caller with keys receives them. */
  readonly members: string;
  /** Asks the workers of all versions who they are. */
  readonly who: string;
  /** The queue group of the workers. */
  readonly group: string;
  /** Returns the subject of one worker: calls with keys, and messages about a call that it has. */
  worker(id: string): string;
}

/** Returns the subjects of a module: `clearway.MODULE.VERSION.…`. A dot in the version becomes an underscore. */
export function subjectsOf(module: string, version: string): Subjects {
  const base = `clearway.${module}.${version.replaceAll(".", "_")}`;
  return {
    call: `${base}.call`,
    cancel: `${base}.cancel`,
    members: `${base}.members`,
    who: `clearway.${module}.who`,
    group: "clearway",
    worker: (id) => `${base}.worker.${id}`,
  };
}

/**
 * Maximum length of a subject that a peer names. NATS closes the connection of a client that sends a line of more than 4,096 bytes, which has
 * two subjects.
 */
const subjectCharactersMax = 1_024;

/**
 * Returns whether a worker may answer to a subject. A caller chooses it, so it must not be one that a worker or NATS itself reads, which
 * would act on the answer.
 */
export function mayAnswerTo(reply: string | undefined): reply is string {
  if (reply === undefined || reply === "" || reply.length > subjectCharactersMax) return false;
  return !reply.startsWith("$") && !reply.startsWith("clearway.");
}

const workerIdForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Returns whether a value can be the id of a worker process. */
export function isWorkerId(id: unknown): id is string {
  return typeof id === "string" && workerIdForm.test(id);
}
