// SPDX-License-Identifier: MIT OR Apache-2.0
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import { PortChannelTransport } from "../channel/transport/port.js";
import { listenTo, type PortEvents, type PortLike } from "../channel/transport/port-like.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";

/**
 * A port between two processes of an Electron app: a `MessagePortMain`, a renderer's `MessagePort`, a utility process's
 * `process.parentPort`, or the `UtilityProcess` itself.
 */
export interface ElectronPort {
  /** Posts a message. Electron's ports copy its memory. */
  postMessage(message: unknown): void;
}

/**
 * Returns a transport over a port between two processes of an Electron app. Both ends call this function, the renderer too:
 * `portTransport` moves memory, and Electron loses a message that moves memory between processes. Takes ownership of a
 * `MessagePortMain` or a `MessagePort`, and starts it. Does not end a utility process.
 *
 * Nothing is moved or shared. The ends do not trust each other, because a renderer may show a foreign page. If the pages are yours, set
 * `exposeErrors: true` for the endpoint.
 *
 * The transport closes with `lost` if the other end's process or page is gone. Throws `invalid-argument`.
 */
export function electronTransport(port: ElectronPort, options: TransportLimits = {}): ChannelTransport {
  if (typeof port?.postMessage !== "function") throw invalid("port", "a port of Electron", port);
  return new ElectronTransport(port, transportOptions(options));
}

/** What Electron's emitters add to those of Node. */
interface ElectronEmitter extends ElectronPort {
  on?(name: string, listener: (value: never) => void): void;
  start?(): void;
  close?(): void;
}

class ElectronTransport extends PortChannelTransport {
  override readonly name = "electron";
  override readonly trusted = false;
  override readonly moves = false;
  override readonly shares = false;
  readonly #port: ElectronEmitter;

  override get clones(): undefined {
    return undefined;
  }

  constructor(port: ElectronPort, limits: Required<TransportLimits>) {
    // Electron refuses a list of memory to move, even an empty one at some ports.
    super({ postMessage: (message) => port.postMessage(message) }, limits);
    this.#port = port;
  }

  protected override listen(_: PortLike, events: PortEvents): () => void {
    const port = this.#port;
    const message = (event: unknown): void => {
      // A `UtilityProcess` emits messages, and every other port emits events. A channel's messages are arrays.
      const data = Array.isArray(event) ? event : (event as MessageEvent | null)?.data;
      // Electron delivers `null` for a message that it could not read, such as one that moves memory.
      if (data === null) events.unreadable();
      else events.message(data);
    };
    // A renderer's port has `addEventListener`, and `listenTo` reads its events.
    const reads = typeof port.on === "function" ? { ...events, message } : events;
    const stop = listenTo(port as PortLike, reads);
    if (typeof port.on === "function") port.start?.();
    return stop;
  }

  protected override disconnect(): void {
    // `UtilityProcess` and `parentPort` have no `close`.
    this.#port.close?.();
  }
}
