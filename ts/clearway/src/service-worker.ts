// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels between pages and a service worker of their origin.
 *
 * @module clearway/channel/service-worker
 */

import type { PortEvents } from "./channel/transport/port-like.js";
import { HandedOverPort, UnsharedPortTransport } from "./channel/transport/port-transports.js";
import {
  accept,
  type ChannelTransport,
  type CloseReason,
  onPageLeave,
  type TransportLimits,
  transportOptions,
} from "./channel/transport/transport.js";
import { ClearwayError, invalid } from "./error/clearway-error.js";
import { clearTimeout, newMessageChannel, queueMicrotask, type Timer } from "./globals.js";
import { after } from "./lazy/lazy.js";

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";

// Messages of a page to a service worker. Each begins with a fixed text, so that other code can use the same worker. Each has one port:
//
//   [ "clearway.service-worker", version, "connect", id ]     opens a connection over the message's port
//   [ "clearway.service-worker", version, "ping", id ]        keeps the worker awake; the answer goes to the message's port
//
//   [ "clearway.service-worker", version, "pong", known ]     the answer: whether the worker has the connection
//
// `id` is a random name of the connection. See spec/channel.md, "Service workers".

const workerMark = "clearway.service-worker";
const workerVersion = 1;

/** Returns a message of the page. */
function pageMessage(kind: "connect" | "ping", id: string): unknown[] {
  return [workerMark, workerVersion, kind, id];
}

/** Reads a message of a page. Returns undefined for a message that is not of this protocol. */
function readPageMessage(data: unknown): { kind: "connect" | "ping"; id: string } | undefined {
  if (!Array.isArray(data)) return undefined;
  const [mark, version, kind, id] = data;
  if (mark !== workerMark || version !== workerVersion || typeof id !== "string") return undefined;
  return kind === "connect" || kind === "ping" ? { kind, id } : undefined;
}

/** Returns the worker's answer to a ping. */
function pong(known: boolean): unknown[] {
  return [workerMark, workerVersion, "pong", known];
}

/** Returns whether an answer says that the worker does not have the connection. */
function isUnknown(data: unknown): boolean {
  return Array.isArray(data) && data[0] === workerMark && data[2] === "pong" && data[3] === false;
}

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
  readonly awakeMs?: number | undefined;
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
  return new ServiceWorkerTransport(worker, new HandedOverPort(), settings, settings.awakeMs as number);
}

class ServiceWorkerTransport extends UnsharedPortTransport {
  readonly #worker: ServiceWorkerLike;
  readonly #awakeMs: number;
  readonly #id = `${Math.random()}${Math.random()}`;
  #timer: Timer | undefined;
  #over = false;

  constructor(worker: ServiceWorkerLike, port: HandedOverPort, limits: Required<TransportLimits>, awakeMs: number) {
    const stops: (() => void)[] = [];
    super("service-worker", port, limits, () => {
      for (const stop of stops) stop();
    });
    this.#worker = worker;
    this.#awakeMs = awakeMs;
    stops.push(
      onPageLeave((reason) => this.close(reason)),
      () => {
        this.#over = true;
        clearTimeout(this.#timer);
      },
    );
  }

  protected override listen(port: HandedOverPort, events: PortEvents): () => void {
    const stop = super.listen(port.kept, events);
    // The worker may be stopped between an earlier message and `open`. It therefore hears of the connection only now.
    queueMicrotask(() => {
      try {
        port.handOver((given) => this.#worker.postMessage(pageMessage("connect", this.#id), [given]));
      } catch (cause) {
        return this.close({ code: "failed", message: "the service worker refused the connection", cause });
      }
      this.#ping();
    });
    return stop;
  }

  protected override disconnect(port: HandedOverPort): void {
    super.disconnect(port);
    // After the microtask of `listen`, which still delivers what the transport has sent.
    queueMicrotask(() => port.close());
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

/** The page, or the worker of a page, at the other end: what the browser's `Client` says of it. */
export interface ServiceWorkerClient {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

export interface ServiceWorkerServerOptions extends TransportLimits {
  /** Receives the errors of the connection function. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The channels of a service worker. */
export interface ServiceWorkerChannels {
  /** Number of open connections. Each transport that a page opens is one. */
  readonly connections: number;
  /** Closes all connections, and accepts no further ones. The worker goes on. */
  close(reason?: CloseReason): void;
}

interface WorkerScope extends EventTarget {
  readonly clients: { get(id: string): Promise<unknown> };
}

interface WorkerMessageEvent extends MessageEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface Connection {
  readonly transport: ChannelTransport;
  readonly clientId: string;
}

/**
 * Serves channels from inside a service worker. Calls `onTransport` for each connection of a page, with a transport of its own. Call it
 * while the worker's script runs, before any `await`, because the browser starts the script again for each event after a stop. If
 * `onTransport` throws or rejects, its page's transport closes with `failed`, and `onError` receives the error.
 *
 * The browser keeps the worker awake until `onTransport` settles, and as long as pages ask for it (`awakeMs`). A page that is left
 * closes its transport. A page that crashed is noticed when another page asks: its transport closes with `lost`.
 *
 * Throws `invalid-argument`, also outside of service workers.
 */
export function serveServiceWorker(
  onTransport: (transport: ChannelTransport, client: ServiceWorkerClient) => unknown,
  options: ServiceWorkerServerOptions = {},
): ServiceWorkerChannels {
  if (typeof onTransport !== "function") throw invalid("onTransport", "a function", onTransport);
  const { onError, ...limits } = transportOptions(options, { onError: "function" });
  if (!("ServiceWorkerGlobalScope" in globalThis))
    throw new ClearwayError("invalid-argument", "serveServiceWorker() must be called in a service worker");
  const scope = globalThis as unknown as WorkerScope;
  const open = new Map<string, Connection>();

  const connect = (id: string, port: MessagePort, client: ServiceWorkerClient): Promise<void> => {
    const transport = new UnsharedPortTransport("service-worker", port, limits, () => open.delete(id));
    open.set(id, { transport, clientId: client.id });
    return accept("clearway/channel/service-worker", onTransport, onError, transport, client);
  };

  // Ends the connections of pages that are gone without a word.
  const sweep = async (): Promise<void> => {
    for (const { transport, clientId } of [...open.values()])
      if ((await scope.clients.get(clientId)) === undefined)
        transport.close({ code: "lost", message: "the page is gone" });
  };

  const heard = (event: Event): void => {
    const { data, ports, source, waitUntil } = event as WorkerMessageEvent;
    const message = readPageMessage(data);
    const [port] = ports;
    const client = source as unknown as Partial<ServiceWorkerClient> | null;
    if (message === undefined || port === undefined || typeof client?.id !== "string") return;
    if (message.kind === "ping") {
      port.postMessage(pong(open.has(message.id)));
      return waitUntil.call(event, sweep());
    }
    if (!open.has(message.id)) waitUntil.call(event, connect(message.id, port, client as ServiceWorkerClient));
  };
  scope.addEventListener("message", heard);
  return {
    get connections() {
      return open.size;
    },
    close(reason) {
      scope.removeEventListener("message", heard);
      for (const { transport } of [...open.values()]) transport.close(reason);
    },
  };
}
