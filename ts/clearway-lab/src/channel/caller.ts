// SPDX-License-Identifier: MIT OR Apache-2.0
// What each way of calling the other side looks like to whoever measures it.
import type { PortEnd } from "../host/port.js";
import type { Row } from "./row.js";

export interface Caller {
  /** Sends the row's value, or one like it, and gives what came back. */
  call(value: unknown): Promise<unknown>;
  /** The same where the answer is there when the call returns; then nothing is in flight, and calls are timed in batches. */
  callNow?(value: unknown): unknown;
  /** Bytes that were copied into messages so far, both ways, by a counter; absent where nothing counts them. */
  copiedBytes?(): number;
  /** Values are lost to whoever sends them: the next call of a lane sends what came back. */
  moves?: boolean;
  /** What this way is given in place of the row's value. */
  prepare?(value: unknown): unknown;
  close(): void | Promise<void>;
}

/** A way over a port, the same at both ends: either may call. */
export interface PortKind {
  open(end: PortEnd, row: Row): Caller | Promise<Caller>;
  /** Answers every call with what it was given, until the port closes. */
  serve(end: PortEnd, row: Row): void | Promise<void>;
}
