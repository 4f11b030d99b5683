/// <reference lib="esnext.disposable" />
import { IncomingMessage, Server } from 'node:http';
import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

interface WebSocketServerOptions extends TransportLimits {
    /** An existing server to attach to. Default: a new server, on `host` and `port`. */
    readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
    /** Port of the new server. Default: 0, which means any free port. */
    readonly port?: number;
    /** Address of the new server. Default: 127.0.0.1, which other machines cannot reach. */
    readonly host?: string;
    /** Path of the channel. Default: "/". */
    readonly path?: string;
    /**
     * The token that a client must send, or a function that checks the client's token. If the function's promise rejects, the
     * client is refused. Default: a random token, which is the result's `token`. False: no token is needed, so every program on
     * this machine may connect.
     */
    readonly token?: string | CheckToken | false;
    /**
     * Origins whose pages may connect, such as "https://example.com". Default: the server's own origin, if its host name is a
     * loopback name. Programs other than browsers send no origin. The token protects against such programs.
     */
    readonly origins?: readonly string[];
    /** Whether other machines may connect. If true, put TLS in front of the server. Default: false. */
    readonly remote?: boolean;
    /** Maximum number of connections at the same time. Default: 64. */
    readonly connectionsMax?: number;
    /** Maximum time to accept a client, including the check of its token, in milliseconds. Default: 10,000. */
    readonly handshakeMs?: number;
    /**
     * Interval of pings, in milliseconds. The server ends a connection that sends nothing for one interval after a ping. Default:
     * 15,000.
     */
    readonly pingMs?: number;
    /**
     * Called with an error of the function that serves a connection. Default: `console.error`, except for errors that any client
     * can cause. These have the codes `transport-closed` (the client left before its hello), `deadline` (it sent no hello in
     * time) and `protocol` (it sent something else).
     */
    readonly onError?: (error: unknown, request: IncomingMessage) => void;
}
/**
 * A function of the application that checks a token, for example in a database. `signal` aborts when `handshakeMs` is over.
 * Pass the signal on. A check that ignores the signal counts against the limit of running checks until it settles.
 */
type CheckToken = (token: string, request: IncomingMessage, signal: AbortSignal) => boolean | Promise<boolean>;

/** A running server of channels. */
interface WebSocketChannels extends AsyncDisposable {
    /** URL that clients connect to. Example: "ws://127.0.0.1:40123/". */
    readonly url: string;
    /** The token that clients must send. Undefined if a function checks tokens, or if no token is needed. */
    readonly token: string | undefined;
    /** Number of open connections. */
    readonly connections: number;
    /**
     * Accepts no more connections and closes the open connections. Settles when all have ended. Does not close a server that was
     * passed in.
     */
    close(): Promise<void>;
}
/**
 * Serves an accepted connection. Until it opens the transport, back-pressure slows the sender down. The function may be async.
 * If it throws or rejects, the server closes the connection with `failed` and passes the error to `onError`.
 */
type OnTransport = (transport: ChannelTransport, request: IncomingMessage) => unknown;
/**
 * Serves channels over WebSockets, with the package `ws`. By default it accepts only connections from this machine, only
 * clients with the token, and only pages of its own origin. It refuses a client with an HTTP status, before the WebSocket is
 * open. It refuses a message over `frameBytesMax` as soon as the message's size is announced. See {@link
 * WebSocketServerOptions} for the options, and `webSocketTransport` for back-pressure and close reasons.
 *
 * Throws `invalid-argument`, `missing-package` if `ws` is not installed, and Node's error for a port in use.
 */
declare function serveWebSockets(options: WebSocketServerOptions, onTransport: OnTransport): Promise<WebSocketChannels>;

export { ChannelTransport, TransportLimits, serveWebSockets };
export type { CheckToken, OnTransport, WebSocketChannels, WebSocketServerOptions };
