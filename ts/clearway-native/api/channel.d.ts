import { MessageCodec, EndpointOptions, Endpoint } from 'clearway/channel';
import { WhenFull, Plugin } from './index.js';

/**
 * Serves a plugin's channels at an endpoint of `clearway/channel`, or as one.
 *
 * @module clearway-native/channel
 */

/** The channels of a plugin that an endpoint serves. */
interface ServedChannels {
    /** Channels of messages and methods, with any codec: their bytes are passed on unchanged. */
    messages?: readonly string[];
    /** Channels of events by name, each with the codec of its events. Events are decoded here and encoded again for the endpoint. */
    events?: Readonly<Record<string, MessageCodec<unknown>>>;
    /** Channels of the plugin's own messages, which the endpoint's other end handles. */
    asks?: readonly string[];
    /** Events that may wait in native code per listener. Default: 64. `whenFull` says which are lost beyond that; default: `wait`. */
    items?: number;
    whenFull?: WhenFull;
}
/**
 * Serves a plugin at an endpoint. The endpoint's other end, in this thread (`memoryPair`), in a worker or behind a socket, calls the
 * plugin's channels, listens to its events and handles its messages. A null message becomes one without bytes.
 *
 * Messages of 16 KiB and more cross without a copy if the plugin was loaded with `views: "shared"` and both ends can have shared memory.
 * The other end then sees the native memory itself, which stays allocated until that end has let it go. Otherwise the plugin's answers
 * are copied once, so that their memory is free at once. Messages to the plugin are lent to it.
 *
 * Disposing ends the service; plugin and endpoint stay open. Throws `invalid-argument` for a channel that is already served.
 */
declare function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable;
/**
 * Returns an endpoint on this thread whose other end is the plugin. Its channels are called, listened to and handled with codecs,
 * schemas, deadlines and outcomes, as those of any other end. Serves `channels` as {@link servePlugin} does, with the same copies. When
 * the plugin closes, calls fail as remote errors; the endpoint stays open. When the endpoint closes, the plugin's own messages find no
 * handler; the plugin stays open. Rejects with `invalid-argument`.
 */
declare function pluginEndpoint(plugin: Plugin, channels: ServedChannels, options?: EndpointOptions): Promise<Endpoint>;

export { pluginEndpoint, servePlugin };
export type { ServedChannels };
