// SPDX-License-Identifier: MIT OR Apache-2.0
import { accept } from "../channel/transport/accept.js";
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import type { ChannelTransport, CloseReason } from "../channel/transport/transport.js";
import { UnsharedPortTransport } from "../channel/transport/unshared-port.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { pong, readPageMessage } from "./message.js";

/** The page, or the worker of a page, at the other end: what the browser's `Client` says of it. */
export interface ServiceWorkerClient {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

export interface ServiceWorkerServerOptions extends TransportLimits {
  /** Receives the errors of the connection function. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
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
