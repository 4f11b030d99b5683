import { MessageCodec, EndpointOptions, Endpoint } from 'clearway/channel';
import { WhenFull, Plugin } from './index.js';

/**
 * Serves a plugin's channels at an endpoint of `clearway/channel`, or as one.
 *
 * @module clearway-native/channel
 */

/** The channels of a plugin that an endpoint serves. */
interface ServedChannels {
    /** Channels of messages and methods, with any codec. Their bytes are passed on unchanged. */
    messages?: readonly string[];
    /** Channels of events by name, each with the codec of its events. Events are decoded here and encoded again for the endpoint. */
    events?: Readonly<Record<string, MessageCodec<unknown>>>;
    /** Channels of the plugin's own messages, which the endpoint's other end handles. */
    asks?: readonly string[];
    /**
     * The maximum number of events that wait in native code per listener. Default: 64. `whenFull` decides which events are lost beyond
     * that. Default: `wait`.
     */
    items?: number;
    whenFull?: WhenFull;
}
/**
 * Serves a plugin at an endpoint. The endpoint's other end, in this thread (`memoryPair`), in a worker or behind a socket, calls the
 * plugin's channels, listens to its events and handles its messages. A null message becomes a message without bytes.
 *
 * Messages of 16 KiB and more cross without a copy if the plugin was loaded with `views: "shared"` and both ends can have shared memory.
 * The other end then sees the native memory itself. The memory stays allocated until that end has released it. Otherwise each answer of
 * the plugin is copied once, and its memory is freed at once. Messages to the plugin are lent to it.
 * Disposing ends the service; plugin and endpoint stay open. Throws `invalid-argument` for a channel that is already served.
 */
declare function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable;
/**
 * Returns an endpoint on this thread whose other end is the plugin. Channels have codecs, schemas, deadlines and outcomes, as with any
 * other end. Serves `channels` as {@link servePlugin} does, with the same copies. If the plugin closes, calls fail as remote errors, but
 * the endpoint stays open. If the endpoint closes, the plugin's own messages find no handler, but the plugin stays open. Rejects with
 * `invalid-argument`.
 */
declare function pluginEndpoint(plugin: Plugin, channels: ServedChannels, options?: EndpointOptions): Promise<Endpoint>;

export { pluginEndpoint, servePlugin };
export type { ServedChannels };
