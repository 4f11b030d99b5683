// SPDX-License-Identifier: MIT OR Apache-2.0
// The interface that every mechanism implements to call the other side of a channel.
import type { PortEnd } from "../host/common.js";
import { numberParam, textParam } from "../protocol/measured.js";
import type { Params } from "../protocol/message.js";

export interface Caller {
  /** Sends `value` to the other side. Resolves to the echoed value. */
  call(value: unknown): Promise<unknown>;
  /** Calls synchronously and returns the answer. Absent if the mechanism cannot do that. */
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

// The parameters of one channel measurement, which is one row of the channel tables. The other side echoes the payload.

export interface ChannelParams {
  channel: "message" | "method";
  codec: "standard" | "json" | "binary";
  payload: string;
  /** Number of timed round trips. They run once one at a time, and once with three in flight. */
  messages: number;
}

export function channelParamsOf(params: Params): ChannelParams {
  const channel = textParam(params, "channel");
  const codec = textParam(params, "codec");
  if (channel !== "message" && channel !== "method") throw new RangeError(`no such channel: channel=${channel}`);
  if (codec !== "standard" && codec !== "json" && codec !== "binary")
    throw new RangeError(`no such codec: codec=${codec}`);
  return { channel, codec, payload: textParam(params, "payload"), messages: numberParam(params, "messages") };
}

/** A hand-written id map. It finds the promise of a call by the call's id. */
export class PendingCalls {
  readonly #pending = new Map<number, (value: unknown) => void>();
  #nextId = 0;

  /** Sends a call with a new id. Resolves when `settle` is called with that id. */
  call(send: (id: number) => void): Promise<unknown> {
    return new Promise((resolve) => {
      const id = this.#nextId++;
      this.#pending.set(id, resolve);
      send(id);
    });
  }

  /** Resolves the call with this id. Ignores an unknown id. */
  settle(id: number, value: unknown): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(value);
  }
}
