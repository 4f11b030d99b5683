// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between pages and a shared worker of their origin.
 *
 * @module clearway/channel/shared-worker
 */

import type { PortEvents, PortLike } from "./channel/transport/port-like.js";
import { UnsharedPortTransport } from "./channel/transport/port-transports.js";
import {
  accept,
  type ChannelTransport,
  type CloseReason,
  onPageLeave,
  type TransportLimits,
  transportOptions,
} from "./channel/transport/transport.js";
import { ClearwayError, invalid } from "./error/clearway-error.js";

export type { PortLike } from "./channel/transport/port-like.js";
export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";

/** The parts of a SharedWorker that Clearway uses. */
export interface SharedWorkerLike {
  readonly port: PortLike;
  /** Reports that the worker's script could not be loaded, or has thrown. */
  addEventListener(type: "error", listener: (event: ErrorEvent) => void): void;
  /** Removes a listener. */
  removeEventListener(type: "error", listener: (event: ErrorEvent) => void): void;
}

/**
 * Returns the page's transport to a shared worker, which calls `serveSharedWorker`. Attachments are moved. Memory cannot be shared
 * with a shared worker. Takes ownership of `worker.port`.
 *
 * The transport closes with:
 *
 * - `failed`, if the worker's script could not be loaded, or threw while it started. `cause` has the browser's message.
 * - `lost`, if the worker ended. Browsers without Web Locks do not report that.
 * - `closed`, if the page was left, or if the other end closed.
 *
 * Throws `invalid-argument`.
 */
export function sharedWorkerTransport(worker: SharedWorkerLike, options: TransportLimits = {}): ChannelTransport {
  if (typeof worker?.port?.postMessage !== "function") throw invalid("worker", "a SharedWorker", worker);
  return new SharedWorkerTransport(worker, transportOptions(options));
}

class SharedWorkerTransport extends UnsharedPortTransport {
  readonly #worker: SharedWorkerLike;

  constructor(worker: SharedWorkerLike, limits: Required<TransportLimits>) {
    super("shared-worker", worker.port, limits, () => stopWaiting());
    this.#worker = worker;
    const stopWaiting = onPageLeave((reason) => this.close(reason));
  }

  protected override listen(port: PortLike, events: PortEvents): () => void {
    const stop = super.listen(port, events);
    // An event without a message means that the script could not be loaded.
    const failed = ({ message }: ErrorEvent): void =>
      events.error(new Error(message || "the shared worker's script could not be loaded"));
    this.#worker.addEventListener("error", failed);
    return () => {
      stop();
      this.#worker.removeEventListener("error", failed);
    };
  }
}

export interface SharedWorkerServerOptions extends TransportLimits {
  /** Receives the errors of the connection function. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The channels of a shared worker. */
export interface SharedWorkerChannels {
  /** Number of open connections. Each call of `sharedWorkerTransport` is one. */
  readonly connections: number;
  /** Closes all connections, and accepts no further ones. The worker goes on. */
  close(reason?: CloseReason): void;
}

/**
 * Serves channels from inside a shared worker. Calls `onTransport` for each page that connects, with a transport of its own. Call it
 * while the worker's script runs for the first time, before any `await`: browsers report the first page right after that. If
 * `onTransport` throws or rejects, its page's transport closes with `failed`, and `onError` receives the error.
 *
 * A page that is left closes its transport. A page that crashes does not. Throws `invalid-argument`, also
 * outside of shared workers.
 */
export function serveSharedWorker(
  onTransport: (transport: ChannelTransport) => unknown,
  options: SharedWorkerServerOptions = {},
): SharedWorkerChannels {
  if (typeof onTransport !== "function") throw invalid("onTransport", "a function", onTransport);
  const { onError, ...limits } = transportOptions(options, { onError: "function" });
  const scope = globalThis as unknown as EventTarget;
  if (!("SharedWorkerGlobalScope" in globalThis))
    throw new ClearwayError("invalid-argument", "serveSharedWorker() must be called in a shared worker");
  const open = new Set<ChannelTransport>();
  const connected = (event: Event): void => {
    const [port] = (event as MessageEvent).ports;
    if (port === undefined) return;
    const transport = new UnsharedPortTransport("shared-worker", port, limits, () => open.delete(transport));
    open.add(transport);
    void accept("clearway/channel/shared-worker", onTransport, onError, transport);
  };
  scope.addEventListener("connect", connected);
  return {
    get connections() {
      return open.size;
    },
    close(reason) {
      scope.removeEventListener("connect", connected);
      for (const transport of [...open]) transport.close(reason);
    },
  };
}
