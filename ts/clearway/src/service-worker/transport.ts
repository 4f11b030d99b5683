// SPDX-License-Identifier: MIT OR Apache-2.0
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import { onPageLeave } from "../channel/transport/page-leave.js";
import type { PortEvents, PortLike } from "../channel/transport/port-like.js";
import type { ChannelTransport } from "../channel/transport/transport.js";
import { UnsharedPortTransport } from "../channel/transport/unshared-port.js";
import { invalid } from "../error/clearway-error.js";
import type { Timer } from "../globals.js";
import { clearTimeout, newMessageChannel, queueMicrotask } from "../globals.js";
import { after } from "../lazy/timer.js";
import { isUnknown, pageMessage } from "./message.js";

/** The part of a ServiceWorker that Clearway uses. */
export interface ServiceWorkerLike {
  /** Posts a message, and starts the worker if it does not run. */
  postMessage(message: unknown, transfer: Transferable[]): void;
}

export interface ServiceWorkerOptions extends TransportLimits {
  /**
   * Interval of the messages that keep the worker awake while this connection is open, in milliseconds. Default: 20,000. A browser
   * stops a service worker that had no event for about 30 seconds; messages of a port are no events. Infinity: the worker is not kept
   * awake. The connection then ends with `lost` when the browser stops the worker, even in the middle of a call.
   */
  readonly awakeMs?: number;
}

/**
 * Returns a page's transport to a service worker, which calls `serveServiceWorker`. `worker` is `registration.active`, or
 * `navigator.serviceWorker.controller`. Starts the worker if it does not run. Attachments are moved. Memory cannot be shared with a
 * service worker.
 *
 * The transport closes with:
 *
 * - `lost`, if the worker was stopped. A new transport starts it again, without its variables.
 * - `closed`, if the page was left, or if the other end closed.
 * - `failed`, if the worker cannot receive messages.
 *
 * Throws `invalid-argument`.
 */
export function serviceWorkerTransport(
  worker: ServiceWorkerLike,
  options: ServiceWorkerOptions = {},
): ChannelTransport {
  if (typeof worker?.postMessage !== "function") throw invalid("worker", "a ServiceWorker", worker);
  const settings = transportOptions(options, { awakeMs: 1 }, { awakeMs: 20_000 });
  return new ServiceWorkerTransport(worker, newMessageChannel(), settings, settings.awakeMs as number);
}

class ServiceWorkerTransport extends UnsharedPortTransport {
  readonly #worker: ServiceWorkerLike;
  readonly #given: MessagePort;
  readonly #awakeMs: number;
  readonly #id = `${Math.random()}${Math.random()}`;
  #timer: Timer | undefined;
  #over = false;

  constructor(
    worker: ServiceWorkerLike,
    { port1, port2 }: MessageChannel,
    limits: Required<TransportLimits>,
    awakeMs: number,
  ) {
    const stops: (() => void)[] = [];
    super("service-worker", port1, limits, () => {
      for (const stop of stops) stop();
    });
    this.#worker = worker;
    this.#given = port2;
    this.#awakeMs = awakeMs;
    stops.push(
      onPageLeave((reason) => this.close(reason)),
      () => {
        this.#over = true;
        clearTimeout(this.#timer);
      },
    );
  }

  protected override listen(port: PortLike, events: PortEvents): () => void {
    const stop = super.listen(port, events);
    // The worker may be stopped between an earlier message and `open`. It therefore hears of the connection only now.
    queueMicrotask(() => {
      try {
        this.#worker.postMessage(pageMessage("connect", this.#id), [this.#given]);
      } catch (cause) {
        return this.close({ code: "failed", message: "the service worker refused the connection", cause });
      }
      this.#ping();
    });
    return stop;
  }

  #ping(): void {
    if (this.#over || this.#awakeMs === Number.POSITIVE_INFINITY) return;
    this.#timer = after(this.#awakeMs, () => {
      const { port1, port2 } = newMessageChannel();
      port1.onmessage = ({ data }) => {
        port1.close();
        // The worker was stopped and started again, and has forgotten the connection.
        if (isUnknown(data)) this.close({ code: "lost", message: "the service worker was stopped" });
      };
      try {
        this.#worker.postMessage(pageMessage("ping", this.#id), [port2]);
      } catch (cause) {
        return this.close({ code: "lost", message: "the service worker is gone", cause });
      }
      this.#ping();
    });
  }
}
