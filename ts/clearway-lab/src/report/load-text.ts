// SPDX-License-Identifier: MIT OR Apache-2.0
// Describes a cell's load, which is its parameters, in words.
import type { Params } from "../protocol/message.js";
import { bytes, shown } from "./number.js";

/** Returns the description. Returns an empty text if the scenario has only one load. */
export function loadText(params: Params): string {
  const parts: string[] = [];
  const { work, waits, order, input } = params;
  if (input !== undefined) parts.push(`input ${input}`);
  if (typeof work === "string") parts.push(work);
  if (waits === "blocking" || waits === "async") parts.push(waits);
  if (order === "shuffled") parts.push(order);
  const { direction, content, feedBytes, chunkBytes, loop, channel, codec, payload } = params;
  if (content === "one shared object") parts.push(content);
  if (/ the (worker|server)$/.test(String(direction))) parts.push(String(direction));
  if (typeof feedBytes === "number") parts.push(`chunks of ${bytes(chunkBytes as number)}`);
  if (loop === "closed") parts.push("closed loop");
  if (typeof payload === "string") parts.push(`${channel}, ${codec}, ${payload}, ${direction}`);
  const { rows, connection, perSecond, count, payloadBytes, receiver, value, memory, bytes: size, cores } = params;
  if (typeof rows === "number") parts.push(`${shown(rows)} rows`);
  if (connection === "none") parts.push("no connection");
  if (connection === "held") parts.push("connection held in the worker");
  if (connection === "each-task") parts.push("a new connection for each task");
  if (perSecond === 0) parts.push(`${shown(count as number)} events back to back`);
  else if (typeof perSecond === "number") parts.push(`${shown(perSecond)} events/s`);
  if (typeof payloadBytes === "number" && payloadBytes > 8) parts.push(`${bytes(payloadBytes)} each`);
  const { processes, inFlight } = params;
  if (typeof processes === "number") parts.push(`${processes} worker process${processes === 1 ? "" : "es"}`);
  if (typeof processes === "number" && typeof inFlight === "number") parts.push(`${shown(inFlight)} in flight`);
  if (receiver === "stalled") parts.push("receiver stalled for 30 ms every 300 ms");
  if (typeof size === "number") parts.push(bytes(size));
  if (typeof memory === "string") parts.push(`${memory} memory`);
  if (typeof value === "string") parts.push(value);
  if (receiver === "half-busy") parts.push("receiver half busy");
  if (cores !== undefined) parts.push(coresText(params));
  return parts.join(", ");
}

/** Describes the cores of the runner's threads. Returns an empty text if the scheduler decided. */
export function coresText({ cores }: Params): string {
  return cores === "one" ? "all threads on one core" : cores === "two" ? "main thread on its own core" : "";
}
