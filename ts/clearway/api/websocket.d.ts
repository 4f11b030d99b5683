import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

/**
 * The parts of a standard WebSocket that Clearway uses. The socket is a browser's, Node's own (22 and newer), or one of the
 * package `ws`.
 */
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
/** A class whose instances are such sockets. */
type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

interface WebSocketOptions extends TransportLimits {
    /**
     * Token for the server. It consists of letters, digits and `- _ . ~ +`. The client sends it in the header of the
     * subprotocols, the only header that a page can set. The token is not in the URL, because proxies and browsers keep URLs in
     * logs and histories.
     */
    readonly token?: string;
    /**
     * The class of sockets. Default: the host's own class. Node has one from version 22 on. With older versions, pass the class
     * of the package `ws`.
     */
    readonly WebSocket?: WebSocketClass;
    /** Maximum time for the connection to open, in milliseconds. Default: 10,000. */
    readonly openMs?: number;
    /**
     * Interval of pings, in milliseconds. The transport closes with `lost` if nothing arrives for one interval after a ping. Only sockets of
     * the package `ws` can ping. Default: 15,000.
     */
    readonly pingMs?: number;
}
/**
 * Returns the client's end of a channel over a WebSocket. It opens the connection itself, or takes ownership of a standard
 * socket that the caller has created. Each frame is one binary message (spec/websocket.md). The transport copies only frames in
 * shared memory. The host copies every frame once in each direction. Frames that are sent before the connection is open leave
 * when it opens.
 *
 * Back-pressure depends on the other end. If that end is Clearway's, `send` returns false when `windowBytes` or more were sent
 * and not yet taken there. For any other end, `send` returns false when `windowBytes` or more wait on this machine. A browser loads
 * a message into memory before code can check the message's size. A message over the limit still closes the transport.
 *
 * The transport closes with:
 *
 * - `refused`, if the server refused the connection. Only the package `ws` reports a refusal; with other classes the code is
 *   `failed`.
 * - `failed`, if the connection did not open for another reason.
 * - `timeout`, if the connection was not open within `openMs`.
 * - `lost`, if the connection broke, or if the other end does not answer a ping.
 * - the other end's reason in all other cases.
 *
 * Throws `invalid-argument`, and the host's error for an invalid URL.
 */
declare function webSocketTransport(target: string | URL | WebSocketLike, options?: WebSocketOptions): ChannelTransport;

export { ChannelTransport, TransportLimits, webSocketTransport };
export type { WebSocketClass, WebSocketLike, WebSocketOptions };
