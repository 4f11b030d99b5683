import { c as CloseReason, T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode } from './types-transport.js';

/** The part of a ServiceWorker that Clearway uses. */
interface ServiceWorkerLike {
    /** Posts a message, and starts the worker if it does not run. */
    postMessage(message: unknown, transfer: Transferable[]): void;
}
interface ServiceWorkerOptions extends TransportLimits {
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
declare function serviceWorkerTransport(worker: ServiceWorkerLike, options?: ServiceWorkerOptions): ChannelTransport;
/** The page, or the worker of a page, at the other end: what the browser's `Client` says of it. */
interface ServiceWorkerClient {
    readonly id: string;
    readonly type: string;
    readonly url: string;
}
interface ServiceWorkerServerOptions extends TransportLimits {
    /** Receives the errors of the connection function. Default: `console.error`. */
    readonly onError?: (error: unknown) => void;
}
/** The channels of a service worker. */
interface ServiceWorkerChannels {
    /** Number of open connections. Each transport that a page opens is one. */
    readonly connections: number;
    /** Closes all connections, and accepts no further ones. The worker goes on. */
    close(reason?: CloseReason): void;
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
declare function serveServiceWorker(onTransport: (transport: ChannelTransport, client: ServiceWorkerClient) => unknown, options?: ServiceWorkerServerOptions): ServiceWorkerChannels;

export { ChannelTransport, CloseReason, TransportLimits, serveServiceWorker, serviceWorkerTransport };
export type { ServiceWorkerChannels, ServiceWorkerClient, ServiceWorkerLike, ServiceWorkerOptions, ServiceWorkerServerOptions };
