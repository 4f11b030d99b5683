import { T as TransportLimits, C as ChannelTransport } from './types-transport.js';
export { a as ChannelSink, b as CloseCode, c as CloseReason } from './types-transport.js';

/** The parts of an extension's event that Clearway uses. */
interface ExtensionEvent<Listener> {
    /** Calls `listener` for each event. */
    addListener(listener: Listener): void;
    /** Stops the calls of `listener`. */
    removeListener(listener: Listener): void;
}
/** The parts of an extension's port (`chrome.runtime.Port`, `browser.runtime.Port`) that Clearway uses. */
interface ExtensionPort {
    /** Posts a message as JSON. */
    postMessage(message: unknown): void;
    /** Closes both ends. This end gets no `onDisconnect`. */
    disconnect(): void;
    /** A message of the other end has arrived. */
    readonly onMessage: ExtensionEvent<(message: never) => void>;
    /** The other end has closed the port, or is gone. */
    readonly onDisconnect: ExtensionEvent<(port: never) => void>;
}
/**
 * Returns a transport over a port between two parts of a browser extension, such as a content script and the service worker. Both ends
 * call this function as soon as they have the port, because browsers drop messages without a listener. Takes ownership of the port.
 *
 * Such ports carry JSON. A frame crosses as base64, in messages of at most 4 MiB, because browsers refuse messages of 64 MiB. Nothing is
 * moved or shared. The ends do not trust each other: a content script runs in the process of a page.
 *
 * The transport closes with:
 *
 * - `failed`, if no part of the extension listens. `cause` has the browser's message.
 * - `lost`, if the port was disconnected: the page was left, the service worker was stopped, or the extension was reloaded.
 * - `closed`, if the other end closed.
 *
 * Throws `invalid-argument`.
 */
declare function extensionTransport(port: ExtensionPort, options?: TransportLimits): ChannelTransport;

export { ChannelTransport, TransportLimits, extensionTransport };
export type { ExtensionEvent, ExtensionPort };
