import { T as TransportLimits, C as ChannelTransport } from './types-limits.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-limits.js';

/**
 * A port between two processes of an Electron app: a `MessagePortMain`, a renderer's `MessagePort`, a utility process's
 * `process.parentPort`, or the `UtilityProcess` itself.
 */
interface ElectronPort {
    /** Posts a message. Electron's ports copy its memory. */
    postMessage(message: unknown): void;
}
/**
 * Returns a transport over a port between two processes of an Electron app. Both ends call this function, the renderer too:
 * `portTransport` moves memory, and Electron loses a message that moves memory between processes. Takes ownership of a
 * `MessagePortMain` or a `MessagePort`, and starts it. Does not end a utility process.
 *
 * Nothing is moved or shared. The ends do not trust each other, because a renderer may show a foreign page. If the pages are yours, set
 * `exposeErrors: true` for the endpoint.
 *
 * The transport closes with `lost` if the other end's process or page is gone. Throws `invalid-argument`.
 */
declare function electronTransport(port: ElectronPort, options?: TransportLimits): ChannelTransport;

export { ChannelTransport, TransportLimits, electronTransport };
export type { ElectronPort };
