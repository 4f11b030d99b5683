import { T as TransportLimits, a as ChannelTransport } from './types-limits.js';
export { b as ChannelSink, c as CloseCode, C as CloseReason } from './types-limits.js';

/** A WebSocket as the standard has it, by what is used of it: a browser's, Node's own (22 and up), or that of the package `ws`. */
interface WebSocketLike {
    binaryType: string;
    readonly protocol: string;
    readonly readyState: number;
    readonly bufferedAmount: number;
    send(message: string | Uint8Array<ArrayBuffer>): void;
    close(code?: number, reason?: string): void;
    addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
    removeEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}
/** The class of such sockets. */
type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

interface WebSocketOptions extends TransportLimits {
    /**
     * Shown to the server: letters, digits and `- _ . ~ +`. It travels in the header of the subprotocols and not in the URL,
     * which proxies and browsers keep in logs and histories; a page has no other header to set.
     */
    readonly token?: string;
    /** The class of sockets; default the host's own. Node has one from 22 on; before, take that of the package `ws`. */
    readonly WebSocket?: WebSocketClass;
    /** How long the connection may take until it is open, in milliseconds; default 10,000. */
    readonly openMs?: number;
}
/**
 * A client's end of a channel over a WebSocket: a connection that it opens, or a socket of the standard's kind that you have
 * opened and that is the transport's from now on. One binary message a frame (spec/websocket.md). Copies nothing; the host
 * copies once each way. What is sent before the connection is open leaves then.
 *
 * Backpressure: where the other end is Clearway's, `send` returns false when more than `windowBytes` were not taken there;
 * where it is not, when more wait on this machine. A browser takes a message into memory before anybody can look at its size;
 * one over the limit closes the transport all the same.
 *
 * The end: `refused` or `failed` where it did not open (a browser does not say which, and says `failed`), `timeout` where it
 * was not open in time, `lost` where the connection broke, else what the other end said. Throws `invalid-argument`, and the
 * host's error for a URL that is none.
 */
declare function webSocketTransport(target: string | URL | WebSocketLike, options?: WebSocketOptions): ChannelTransport;

export { ChannelTransport, TransportLimits, webSocketTransport };
export type { WebSocketClass, WebSocketLike, WebSocketOptions };
