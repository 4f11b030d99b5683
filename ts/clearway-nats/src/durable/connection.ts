// SPDX-License-Identifier: MIT OR Apache-2.0
import { createInbox, type NatsConnection, PermissionViolationError } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { timers } from "../timer.js";
import { isOfServers, isPassing, serverError } from "./server-errors.js";

/** Returns a new subject for answers. Users may be allowed subjects with a certain beginning only, which the connection's options have. */
export function inboxOf(connection: NatsConnection): string {
  const { options } = connection as { options?: { inboxPrefix?: string } };
  return createInbox(options?.inboxPrefix);
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
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<never>((_, reject) => {
    const interrupt = (): void => reject(new Interrupted("the connection was interrupted"));
    unwatch = watchConnection(connection, { disconnected: interrupt, reconnected: interrupt, closed: interrupt });
    const late = (): void => reject(new Interrupted("the servers do not answer"));
    if (limitMs < Number.POSITIVE_INFINITY) timer = timers.setTimeout(late, Math.max(0, limitMs));
  });
  try {
    return await Promise.race([step, lost]);
  } finally {
    unwatch();
    timers.clearTimeout(timer);
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
