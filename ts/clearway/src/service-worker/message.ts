// SPDX-License-Identifier: MIT OR Apache-2.0

// Messages of a page to a service worker. Each begins with a fixed text, so that other code can use the same worker. Each has one port:
//
//   [ "clearway.service-worker", version, "connect", id ]     opens a connection over the message's port
//   [ "clearway.service-worker", version, "ping", id ]        keeps the worker awake; the answer goes to the message's port
//
//   [ "clearway.service-worker", version, "pong", known ]     the answer: whether the worker has the connection
//
// `id` is a random name of the connection. See spec/channel.md, "Service workers".

export const workerMark = "clearway.service-worker";
export const workerVersion = 1;

/** Returns a message of the page. */
export function pageMessage(kind: "connect" | "ping", id: string): unknown[] {
  return [workerMark, workerVersion, kind, id];
}

/** Reads a message of a page. Returns undefined for a message that is not of this protocol. */
export function readPageMessage(data: unknown): { kind: "connect" | "ping"; id: string } | undefined {
  if (!Array.isArray(data)) return undefined;
  const [mark, version, kind, id] = data;
  if (mark !== workerMark || version !== workerVersion || typeof id !== "string") return undefined;
  return kind === "connect" || kind === "ping" ? { kind, id } : undefined;
}

/** Returns the worker's answer to a ping. */
export function pong(known: boolean): unknown[] {
  return [workerMark, workerVersion, "pong", known];
}

/** Returns whether an answer says that the worker does not have the connection. */
export function isUnknown(data: unknown): boolean {
  return Array.isArray(data) && data[0] === workerMark && data[2] === "pong" && data[3] === false;
}
