// SPDX-License-Identifier: MIT OR Apache-2.0
import { JetStreamApiError } from "@nats-io/jetstream";
import { createInbox, type NatsConnection, PermissionViolationError } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { systemClock, timers } from "../clock.js";

/** Returns a new subject for answers. Users may be allowed subjects with a certain beginning only, which the connection's options have. */
export function inboxOf(connection: NatsConnection): string {
  const { options } = connection as { options?: { inboxPrefix?: string } };
  return createInbox(options?.inboxPrefix);
}

/** Returns the servers' limit of a message, in bytes. It may change with each new connection. */
export function payloadBytesMaxOf({ info }: NatsConnection): number {
  return info?.max_payload ?? 2 ** 20;
}

/** Listeners to the state of a connection. */
export interface ConnectionListener {
  /** Called when the connection is lost. */
  disconnected?(): void;
  /** Called when the servers refuse to take a message, or a subscription, of this user. */
  refused?(error: PermissionViolationError): void;
  /** Called when the connection is made again. Messages that were under way in either direction may be lost. */
  reconnected(): void;
  /** Called once, when the connection has ended for good. */
  closed(reason: ClearwayError): void;
}

interface Watch {
  readonly listeners: Set<ConnectionListener>;
  reason: ClearwayError | undefined;
}

// The client makes a queue for each reader of its status. One reader serves all parts of a pool.
const watches = new WeakMap<NatsConnection, Watch>();

/** Calls the listener when the state of the connection changes. Returns a function that ends this. */
export function watchConnection(connection: NatsConnection, listener: ConnectionListener): () => void {
  let watch = watches.get(connection);
  if (!watch) {
    watch = { listeners: new Set(), reason: undefined };
    watches.set(connection, watch);
    follow(connection, watch);
  }
  const { listeners, reason } = watch;
  if (reason) timers.queueMicrotask(() => listener.closed(reason));
  else listeners.add(listener);
  return () => listeners.delete(listener);
}

function follow(connection: NatsConnection, watch: Watch): void {
  const read = async (): Promise<void> => {
    for await (const status of connection.status()) {
      for (const each of [...watch.listeners]) {
        if (status.type === "reconnect") each.reconnected();
        else if (status.type === "disconnect") each.disconnected?.();
        else if (status.type === "error" && status.error instanceof PermissionViolationError)
          each.refused?.(status.error);
      }
    }
  };
  // The status ends with the connection. `closed()` reports that.
  read().catch(() => {});
  void connection.closed().then((error) => {
    const message = "the connection to the servers is closed";
    watch.reason = error ? caused("transport-closed", message, error) : new ClearwayError("transport-closed", message);
    for (const each of [...watch.listeners]) each.closed(watch.reason);
    watch.listeners.clear();
  });
}

/** Thrown when the connection was interrupted while a step waited for the servers. The same step may succeed later. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/**
 * Waits for a step that needs the servers, and only while the connection stays: the answers to requests of a lost connection never come.
 * Rejects with {@link Interrupted} when the connection is lost, and after `limitMs` milliseconds. The step itself goes on.
 */
export async function whileConnected<Value>(
  connection: NatsConnection,
  step: Promise<Value>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Value> {
  let unwatch = (): void => {};
  let disarm = (): void => {};
  const lost = new Promise<never>((_, reject) => {
    const interrupt = (): void => reject(new Interrupted("the connection was interrupted"));
    unwatch = watchConnection(connection, { disconnected: interrupt, reconnected: interrupt, closed: interrupt });
    const late = (): void => reject(new Interrupted("the servers do not answer"));
    disarm = systemClock.after(Math.max(0, limitMs), late);
  });
  try {
    return await Promise.race([step, lost]);
  } finally {
    unwatch();
    disarm();
  }
}

const retryMs = 250;

/**
 * Does something that needs the servers, again and again until they answer. Rejects with their answer as an error of ours if it is an error,
 * and with `transport-closed` when the connection has ended, or when the servers have not answered for `limitMs` milliseconds.
 */
export async function persistently<Value>(
  connection: NatsConnection,
  act: () => Promise<Value>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<Value> {
  const endMs = timers.nowMs() + limitMs;
  for (;;) {
    try {
      return await whileConnected(connection, act(), endMs - timers.nowMs());
    } catch (reason) {
      if (!isPassing(reason) || timers.nowMs() >= endMs) throw serverError(reason);
      if (connection.isClosed()) throw caused("transport-closed", "the connection to the servers is closed", reason);
    }
    await new Promise((resolve) => timers.setTimeout(resolve, retryMs));
  }
}

/** Longest time for a step of the start of a pool or of a worker process, in milliseconds. A cluster elects leaders meanwhile. */
export const openMsMax = 30_000;

/**
 * Does a step of the start of a pool or of a worker process, again after the connection was interrupted. Rejects with `connect-failed` and
 * the message if the servers refuse it, or do not answer.
 */
export async function opening<Value>(
  connection: NatsConnection,
  message: string,
  act: () => Promise<Value>,
): Promise<Value> {
  try {
    return await persistently(connection, act, openMsMax);
  } catch (reason) {
    if (!isOfServers(reason)) throw reason;
    throw caused("connect-failed", message, (reason as ClearwayError).cause ?? reason);
  }
}

// Every error of the servers that leaves this package is a `ClearwayError`. docs/durable.md has a table of what each means for each operation.

/** JetStream's numbers of the errors that this package handles by themselves. */
export const serverNumbers = {
  consumerNotFound: 10014,
  noMessageFound: 10037,
  messageTooLarge: 10054,
  nameInUse: 10058,
  streamNotFound: 10059,
  subjectsOverlap: 10065,
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
const tooLarge = new Set<number>([serverNumbers.messageTooLarge, 10097]);
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
