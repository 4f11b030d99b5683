import { T as TransportLimits, a as ChannelTransport } from './types-limits.js';
export { b as ChannelSink, c as CloseCode, C as CloseReason } from './types-limits.js';
import { IncomingMessage, Server } from 'node:http';

/** Looks at a token that is not compared with one text; may look somewhere else for it. */
type CheckToken = (token: string, request: IncomingMessage) => boolean | Promise<boolean>;

interface WebSocketServerOptions extends TransportLimits {
    /** A server of yours that it is attached to. Left out: one of its own, on `host` and `port`. */
    readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
    /** The port of its own server; default 0: one that is free. */
    readonly port?: number;
    /** The address of its own server; default 127.0.0.1: nobody else's machine reaches it. */
    readonly host?: string;
    /** The path of the channel; default "/". */
    readonly path?: string;
    /**
     * What a client has to show, or a function that says whether it is right (a rejection is a no). Left out: a random one, in
     * the result's `token`. False: none, so that every program on this machine may connect.
     */
    readonly token?: string | CheckToken | false;
    /**
     * The origins whose pages may connect, such as "https://example.com". Left out: the server's own, under a name of this
     * machine. Programs that are not browsers send no origin; the token is for them.
     */
    readonly origins?: readonly string[];
    /** Whether connections from other machines are let in; default false. Put TLS in front of it. */
    readonly remote?: boolean;
    /** How many connections there may be at once; default 64. */
    readonly connectionsMax?: number;
    /** How long a client may take to be let in, its token's check included, in milliseconds; default 10,000. */
    readonly handshakeMs?: number;
    /** A connection that was silent for so long is pinged, and ended after as long again; default 15,000 milliseconds. */
    readonly pingMs?: number;
    /**
     * Receives what the function for connections threw. Default: `console.error`, except for what any client can cause at will: it
     * left before its hello, said none in time, or something else (`transport-closed`, `deadline`, `protocol`).
     */
    readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

/** A server of channels, until it is closed. */
interface WebSocketChannels extends AsyncDisposable {
    /** Where clients connect to, such as "ws://127.0.0.1:40123/". */
    readonly url: string;
    /** What they have to show, where that is one text. */
    readonly token: string | undefined;
    /** How many connections there are. */
    readonly connections: number;
    /** Lets nobody in any more, tells everybody, and settles when all connections have ended. A server of yours stays open. */
    close(): Promise<void>;
}
/**
 * Receives each connection that was let in. A transport that is not opened holds its sender up. May be async: an error that it
 * throws or rejects with closes the connection (`failed`), and goes to `onError`.
 */
type OnTransport = (transport: ChannelTransport, request: IncomingMessage) => unknown;
/**
 * Serves channels over WebSockets, by the package `ws`. On this machine alone, with a token, to pages of its own origin
 * alone, unless told otherwise; refuses by an HTTP status before there is a connection. Messages over `frameBytesMax` are
 * refused when they are announced. See {@link WebSocketServerOptions}, and `webSocketTransport` for backpressure and ends.
 *
 * Throws `invalid-argument`, `missing-package` where `ws` is not installed, and Node's error for a port that is taken.
 */
declare function serveWebSockets(options: WebSocketServerOptions, onTransport: OnTransport): Promise<WebSocketChannels>;

export { ChannelTransport, TransportLimits, serveWebSockets };
export type { CheckToken, OnTransport, WebSocketChannels, WebSocketServerOptions };
