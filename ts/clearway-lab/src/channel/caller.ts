// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface that every mechanism implements to call the other side of a channel.
import type { PortEnd } from "../host/port.js";
import type { ChannelParams } from "./channel-params.js";

export interface Caller {
  /** Sends `value` to the other side. Resolves to the echoed value. */
  call(value: unknown): Promise<unknown>;
  /**
   * Calls synchronously and returns the answer. Absent if the mechanism cannot do that. `drive` times these calls in batches.
   */
  callNow?(value: unknown): unknown;
  /** Returns the number of bytes copied into messages so far, in both directions. Absent if the mechanism does not count them. */
  copiedBytes?(): number;
  /** Whether a call takes the value's memory from the sender. If so, `drive` sends the value that came back in its next call. */
  moves?: boolean;
  /** Returns the form of the payload that this mechanism sends. */
  prepare?(value: unknown): unknown;
  close(): void | Promise<void>;
}

/** A caller with the worker or process that echoes its calls. */
export interface OpenCaller {
  caller: Caller;
  /** Ends the worker or process. */
  end(): Promise<void>;
}

/** A mechanism over a port. Both ends can open and serve, so either end can make the calls. */
export interface PortKind {
  open(end: PortEnd, params: ChannelParams): Caller | Promise<Caller>;
  /** Echoes every call until the port closes. */
  serve(end: PortEnd, params: ChannelParams): void | Promise<void>;
}
