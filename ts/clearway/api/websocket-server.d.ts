import { T as TransportLimits, a as ChannelTransport } from './types-limits.js';
export { b as ChannelSink, c as CloseCode, C as CloseReason } from './types-limits.js';
import { IncomingMessage, Server } from 'node:http';

/**
 * Checks a token in the caller's own way, for example in a database. `signal` aborts when `handshakeMs` is over; pass it on,
 * because a check that goes on keeps its place among the checks until it settles.
 */
type CheckToken = (token: string, request: IncomingMessage, signal: AbortSignal) => boolean | Promise<boolean>;

interface WebSocketServerOptions extends TransportLimits {
    /** An existing server to attach to. Default: the channels' own server, on `host` and `port`. */
    readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
    /** The port of the own server. Default: 0, any free port. */
    readonly port?: number;
    /** The address of the own server. Default: 127.0.0.1, which no other machine reaches. */
    readonly host?: string;
    /** The path of the channel. Default: "/". */
    readonly path?: string;
    /**
     * The token that a client must send, or a function that checks it (a rejected promise refuses the client). Default: a random token, in
     * the result's `token`. False: no token, so every program on this machine may connect.
     */
    readonly token?: string | CheckToken | false;
    /**
     * Origins whose pages may connect, such as "https://example.com". Default: the server's own origin, under a name of this machine.
     * Programs other than browsers send no origin; the token protects against them.
     */
    readonly origins?: readonly string[];
    /** Whether other machines may connect. Default: false. Put TLS in front of it. */
    readonly remote?: boolean;
    /** Most connections at the same time. Default: 64. */
    readonly connectionsMax?: number;
    /** Time limit of accepting a client, including the token's check, in milliseconds. Default: 10,000. */
    readonly handshakeMs?: number;
    /** Interval of pings, in milliseconds. A connection that sends nothing for one interval after a ping is ended. Default: 15,000. */
    readonly pingMs?: number;
    /**
     * Receives errors of the function for connections. Default: `console.error`, except for errors that any client can cause: it left
     * before its hello, sent none in time, or sent something else (`transport-closed`, `deadline`, `protocol`).
     */
    readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

/** A running server of channels. */
interface WebSocketChannels extends AsyncDisposable {
    /** URL that clients connect to, such as "ws://127.0.0.1:40123/". */
    readonly url: string;
    /** The token that clients must send; undefined when a function checks it or none is needed. */
    readonly token: string | undefined;
    /** Number of open connections. */
    readonly connections: number;
    /** Accepts no more connections, closes the open ones, and settles when all have ended. Does not close a server that was passed in. */
    close(): Promise<void>;
}
/**
 * Receives each accepted connection. A transport that is not opened holds its sender back. May be async: an error that it throws or
 * rejects with closes the connection (`failed`) and goes to `onError`.
 */
type OnTransport = (transport: ChannelTransport, request: IncomingMessage) => unknown;
/**
 * Serves channels over WebSockets, with the package `ws`. By default it accepts only this machine, only clients with the token, and only
 * pages of its own origin. It refuses with an HTTP status, before there is a connection. It refuses messages over `frameBytesMax` as soon
 * as their size is announced. See {@link WebSocketServerOptions}; see `webSocketTransport` for back-pressure and close reasons.
 *
 * Throws `invalid-argument`, `missing-package` when `ws` is not installed, and Node's error for a port in use.
 */
declare function serveWebSockets(options: WebSocketServerOptions, onTransport: OnTransport): Promise<WebSocketChannels>;

export { ChannelTransport, TransportLimits, serveWebSockets };
export type { CheckToken, OnTransport, WebSocketChannels, WebSocketServerOptions };
