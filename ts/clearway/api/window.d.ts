import { a as PortOptions } from './types-port-like.js';
import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

/** The parts of a window that a page of another origin may use, too. */
interface WindowLike {
    readonly closed: boolean;
    readonly window: unknown;
    /** Posts a message to the window's page, if the page has the origin `targetOrigin`. */
    postMessage(message: unknown, targetOrigin: string, transfer: Transferable[]): void;
}
interface WindowOptions extends TransportLimits, Pick<PortOptions, "ring"> {
    /**
     * The origins that may be in the other window: one, or a list. An origin is a scheme, a host and a port, such as
     * `"https://example.com"` or `location.origin`. Messages of other origins are ignored, and nothing is sent to them.
     *
     * `"null"` accepts every opaque origin: a sandboxed frame without `allow-same-origin`, a `data:` URL, a file. It names no page, so
     * whichever opaque page is in the window may connect. `"*"` is refused.
     */
    readonly origin?: string | readonly string[];
    /**
     * Accepts every page that the window may show, now or after a navigation, and hands it a port to this page. Any site that can bring
     * its page into the window can then call this page's handlers. Give it instead of `origin`. Default: false.
     */
    readonly dangerouslyAnyOrigin?: boolean;
    /** Name of the connection. Two connections to one window need different names. Both ends give the same name. Default: "". */
    readonly name?: string;
    /** Maximum time for the other window to connect, in milliseconds. Default: 10,000. Infinity: no limit. */
    readonly openMs?: number;
}
/**
 * Returns a transport to another window: a frame, the parent of a frame, a popup or its opener. Both pages call this function, in any
 * order. Each checks the sender and the origin of every message of the handshake. The handshake hands over ports, which then carry the
 * channel. Attachments are moved. Memory is shared only between pages of one origin that are cross-origin isolated.
 *
 * Frames that are sent before the other page is there arrive when it connects. Pages of one origin trust each other: they receive
 * errors of handlers in full.
 *
 * The transport closes with:
 *
 * - `timeout`, if the other page did not connect within `openMs`. The message says if a page of another origin tried.
 * - `lost`, if the window is closed already, or if its page was replaced during the handshake.
 * - `closed`, if either page was left: it navigated, its frame was removed, or its tab was closed.
 *
 * A page that crashes says nothing. Throws `invalid-argument`.
 */
declare function windowTransport(target: WindowLike, options: WindowOptions): ChannelTransport;

export { ChannelTransport, PortOptions, TransportLimits, windowTransport };
export type { WindowLike, WindowOptions };
