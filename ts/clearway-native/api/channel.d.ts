import { MessageCodec, EndpointOptions, Endpoint } from 'clearway/channel';
import { WhenFull, Plugin } from './index.js';

/** Which of a plugin's channels an endpoint serves. */
interface ServedChannels {
    /** Channels of messages and methods, whatever their codec: their bytes go through as they are. */
    messages?: readonly string[];
    /** Channels of events, by name, each with the codec of its events: they are decoded here, and encoded for the endpoint. */
    events?: Readonly<Record<string, MessageCodec<unknown>>>;
    /** Channels of the plugin's own messages, which the endpoint's other end handles. */
    asks?: readonly string[];
    /** How many events may wait in native code for a listener, and what is lost beyond. Default 64, `wait`. */
    items?: number;
    whenFull?: WhenFull;
}
/**
 * Serves a plugin at an endpoint: whoever is at its other end, in this thread (`memoryPair`), in a worker or behind a socket, calls
 * the plugin's channels, listens to its events and handles its messages. A null message is one without bytes. Messages of 16 KiB and
 * more cross without a copy where the plugin was loaded with `views: "shared"` and both ends can have shared memory: native memory
 * is seen by the other end as it is, and stays until that has let it go. Otherwise what the plugin answers is copied once, so that
 * its memory is free at once. What comes for the plugin is lent to it. Ends when it is disposed; the plugin and the endpoint stay
 * open. Throws `invalid-argument` for a channel that is served already.
 */
declare function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable;
/**
 * An endpoint on this thread whose other end is the plugin: its channels are called, listened to and handled with codecs, schemas,
 * deadlines and outcomes as those of any other end. Serves `channels` as {@link servePlugin} does, with the same copies. When the
 * plugin closes, calls fail as remote errors; the endpoint stays open. When the endpoint closes, the plugin's own messages find no
 * handler; the plugin stays open. Rejects with `invalid-argument`.
 */
declare function pluginEndpoint(plugin: Plugin, channels: ServedChannels, options?: EndpointOptions): Promise<Endpoint>;

export { pluginEndpoint, servePlugin };
export type { ServedChannels };
