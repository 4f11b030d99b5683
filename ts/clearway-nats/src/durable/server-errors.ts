// SPDX-License-Identifier: MIT OR Apache-2.0
import { JetStreamApiError } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";

// Every error of the servers that leaves this package is a `ClearwayError`. docs/durable.md has a table of what each means for each operation.

/** JetStream's numbers of the errors that this package handles by themselves. */
export const serverNumbers = {
  consumerNotFound: 10014,
  noMessageFound: 10037,
  nameInUse: 10058,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
} as const;

// The servers have no room: in the account, on the server, in its memory, on its disk, or for another consumer or stream.
const full = new Set([10002, 10023, 10026, 10027, 10028, 10047, 10122]);
// The same for a new stream. A cluster answers that it has no servers for it.
const unreservable = new Set([10002, 10005, 10023, 10028, 10047, 10122]);
// The store refuses a message. Only the text says why: a limit of the stream, or the disk.
const storeFailed = 10077;
// A disk is full or fails. The servers pass on what the system says, with the number of whatever they tried. nats-server 2.9 says only that
// it could not create a store, which is the folder of a stream or a consumer.
const diskFails =
  /no space left|quota exceeded|input\/output error|read-only file system|too many open files|error creating store/i;
const missing = new Set<number>([serverNumbers.streamNotFound, serverNumbers.consumerNotFound]);
const notEnabled = new Set([10039, 10076]);
const tooLarge = new Set([10054, 10097]);
// These pass: no leader is elected, a server starts, or the servers are busy.
const passing = new Set([10008, 10009, 10118, 10119]);

// JetStream's numbers of the errors that `refused()` has made.
const numbers = new WeakMap<object, number>();
const ofServers = new WeakSet<object>();

/** Returns the error for a refusal of the servers, which have given it a number and a text. */
export function refused(number: number, text: string, cause?: unknown): ClearwayError {
  const error = caused(codeOf(number, text), `the servers refuse: ${text}`, cause);
  numbers.set(error, number);
  ofServers.add(error);
  return error;
}

function codeOf(number: number, text: string): ClearwayError["code"] {
  if (full.has(number) || diskFails.test(text)) return "queue-full";
  if (number === storeFailed && /maximum|resource|insufficient/i.test(text)) return "queue-full";
  if (missing.has(number)) return "storage-lost";
  if (notEnabled.has(number)) return "connect-failed";
  if (tooLarge.has(number)) return "too-large";
  return passing.has(number) ? "transport-closed" : "protocol";
}

/** Returns whether the servers may answer the same request otherwise a moment later. */
export function isPassing(reason: unknown): boolean {
  if (reason instanceof JetStreamApiError) return passing.has(reason.code);
  if (reason instanceof ClearwayError) return passing.has(numberOf(reason) ?? 0);
  return !(reason instanceof PermissionViolationError || hasNoResponder(reason));
}

/** Returns whether nothing answers to the subject of a request: no stream has it, or the servers have no JetStream. */
export function hasNoResponder(reason: unknown): boolean {
  // The client does not export the class.
  return (reason as { name?: unknown } | null)?.name === "JetStreamNotEnabled";
}

/** Returns whether the servers refuse because they, the account or a stream have no room. */
export function isFull(reason: unknown): boolean {
  return ofServers.has(reason as object) && (reason as ClearwayError).code === "queue-full";
}

/** Returns whether the servers have answered that they cannot reserve the room for a new stream. */
export function cannotReserve(reason: unknown): boolean {
  return unreservable.has(numberOf(reason) ?? 0);
}

/** Returns JetStream's number of a refusal. Undefined for any other error. */
export function numberOf(reason: unknown): number | undefined {
  return reason instanceof JetStreamApiError ? reason.code : numbers.get(reason as object);
}

/** Returns whether an error of ours comes from the servers or from the connection, so that it says nothing about the call. */
export function isOfServers(reason: unknown): boolean {
  return ofServers.has(reason as object) || (reason as { code?: unknown } | null)?.code === "transport-closed";
}

/** Returns the error of ours for any error of NATS's client. An error of ours stays as it is. */
export function serverError(reason: unknown): ClearwayError {
  if (reason instanceof ClearwayError) return reason;
  if (reason instanceof JetStreamApiError) return refused(reason.code, reason.message, reason);
  const error =
    reason instanceof PermissionViolationError
      ? notAllowed(reason)
      : hasNoResponder(reason)
        ? caused("connect-failed", "the servers do not answer requests to JetStream", reason)
        : caused("transport-closed", "the servers do not answer", reason);
  ofServers.add(error);
  return error;
}

/** Returns the error for a subject that the user may not use. */
export function notAllowed(error: PermissionViolationError): ClearwayError {
  return caused("not-allowed", `the servers do not allow this user to use the subject ${error.subject}`, error);
}
