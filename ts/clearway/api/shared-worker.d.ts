import { P as PortLike } from './types-port-like.js';
import { c as CloseReason, T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode } from './types-transport.js';

/** The parts of a SharedWorker that Clearway uses. */
interface SharedWorkerLike {
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
declare function sharedWorkerTransport(worker: SharedWorkerLike, options?: TransportLimits): ChannelTransport;
interface SharedWorkerServerOptions extends TransportLimits {
    /** Receives the errors of the connection function. Default: `console.error`. */
    readonly onError?: (error: unknown) => void;
}
/** The channels of a shared worker. */
interface SharedWorkerChannels {
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
declare function serveSharedWorker(onTransport: (transport: ChannelTransport) => unknown, options?: SharedWorkerServerOptions): SharedWorkerChannels;

export { ChannelTransport, CloseReason, PortLike, TransportLimits, serveSharedWorker, sharedWorkerTransport };
export type { SharedWorkerChannels, SharedWorkerLike, SharedWorkerServerOptions };
