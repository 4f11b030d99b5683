// SPDX-License-Identifier: MIT OR Apache-2.0
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import { onPageLeave } from "../channel/transport/page-leave.js";
import type { PortEvents, PortLike } from "../channel/transport/port-like.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { UnsharedPortTransport } from "../channel/transport/unshared-port.js";
import { invalid } from "../error/clearway-error.js";

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
