// SPDX-License-Identifier: MIT OR Apache-2.0
// The common interface of all ways of calling the other side.
import type { PortEnd } from "../host/port.js";
import type { Row } from "./row.js";

export interface Caller {
  /** Sends the row's value, or one like it, and resolves to the echo. */
  call(value: unknown): Promise<unknown>;
  /**
   * Calls synchronously, where possible: the call returns the answer. Such calls are never in flight and are timed in batches.
   */
  callNow?(value: unknown): unknown;
  /** Returns the bytes copied into messages so far, both ways, by a counter. Absent without a counter. */
  copiedBytes?(): number;
  /** Whether the sender loses its values: the next call of a lane then sends the value that came back. */
  moves?: boolean;
  /** Makes the value that this way sends instead of the row's value. */
  prepare?(value: unknown): unknown;
  close(): void | Promise<void>;
}

/** A way over a port, the same at both ends, so that either end may call. */
export interface PortKind {
  open(end: PortEnd, row: Row): Caller | Promise<Caller>;
  /** Echoes every call until the port closes. */
  serve(end: PortEnd, row: Row): void | Promise<void>;
}
