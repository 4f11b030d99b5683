import { T as TransportLimits, a as ChannelTransport } from './types-limits.js';
export { b as ChannelSink, c as CloseCode, C as CloseReason } from './types-limits.js';

/** The parts of a standard WebSocket that Clearway uses: a browser's, Node's own (22 and newer), or one of the package `ws`. */
interface WebSocketLike {
    binaryType: string;
    readonly protocol: string;
    readonly readyState: number;
    readonly bufferedAmount: number;
    /** Queues a message for sending. */
    send(message: string | Uint8Array<ArrayBuffer>): void;
    /** Begins the closing handshake. */
    close(code?: number, reason?: string): void;
    /** Adds a listener for the connection's events. */
    addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
    /** Removes a listener. */
    removeEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}
/** The class of such sockets. */
type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

interface WebSocketOptions extends TransportLimits {
    /**
     * Token for the server: letters, digits and `- _ . ~ +`. It crosses in the header of the subprotocols, the only header that a page can
     * set. It is not in the URL, because proxies and browsers keep URLs in logs and histories.
     */
    readonly token?: string;
    /** The class of sockets. Default: the host's own. Node has one from 22 on; with older versions, pass the class of the package `ws`. */
    readonly WebSocket?: WebSocketClass;
    /** How long the connection may take to open, in milliseconds. Default: 10,000. */
    readonly openMs?: number;
}
/**
 * Returns a client's end of a channel over a WebSocket. It opens the connection itself, or takes ownership of a standard socket that the
 * caller has opened. Each frame is one binary message (spec/websocket.md). Copies nothing; the host copies once in each direction. Frames
 * sent before the connection is open leave when it opens.
 *
 * Back-pressure: if the other end is Clearway's, `send` returns false when that end has not taken more than `windowBytes`; if not, when
 * more than that wait on this machine. A browser loads a message into memory before code can check its size. A message over the limit
 * still closes the transport.
 *
 * Closes with `refused` or `failed` when the connection did not open (a browser does not say which of them, so it is `failed`), with
 * `timeout` when it was not open in time, with `lost` when it broke, else with the other end's reason. Throws `invalid-argument`, and the
 * host's error for an invalid URL.
 */
declare function webSocketTransport(target: string | URL | WebSocketLike, options?: WebSocketOptions): ChannelTransport;

export { ChannelTransport, TransportLimits, webSocketTransport };
export type { WebSocketClass, WebSocketLike, WebSocketOptions };
