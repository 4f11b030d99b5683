/// <reference lib="esnext.disposable" />
import { MessageCodec, EndpointOptions, Endpoint } from 'clearway/channel';
import { WhenFull, Plugin } from './index.js';

/** The channels of a plugin that an endpoint serves. */
interface ServedChannels {
    /** The names of the channels for messages and method calls. They may use any codec, because their bytes are passed on unchanged. */
    messages?: readonly string[];
    /** The channels of events by name, each with the codec of its events. The events are decoded, and encoded again for the endpoint. */
    events?: Readonly<Record<string, MessageCodec<unknown>>>;
    /** The names of the channels for the plugin's own messages. The endpoint's other end handles these messages. */
    asks?: readonly string[];
    /** The maximum number of events that wait in native code, per listener. Default: 64. */
    items?: number;
    /** The policy for events beyond `items`. Default: `wait`. */
    whenFull?: WhenFull;
}
/**
 * Serves a plugin at an endpoint. The endpoint's other end can then call the plugin's channels, listen to its events and handle its
 * messages. The other end may be on this thread (`memoryPair`), in a worker or at the other end of a socket. A null message becomes a
 * message without bytes.
 *
 * Messages from the plugin of 16 KiB and more are not copied if two conditions hold: the plugin was loaded with `views: "shared"`, and both
 * ends can use shared memory. The other end then sees the native memory itself, which stays allocated until that end has released it.
 * Otherwise each answer of the plugin is copied once, and its native memory is released at once. Messages to the plugin are lent to it.
 *
 * Disposing the result ends the service. The plugin and the endpoint stay open. Throws `invalid-argument` for a channel that is already
 * served.
 */
declare function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable;
/**
 * Returns an endpoint on this thread whose other end is the plugin. Its channels have codecs, schemas, deadlines and outcomes, as those of
 * every endpoint. Serves `channels` as {@link servePlugin} does, with the same copies. If the plugin closes, calls fail as remote errors,
 * and the endpoint stays open. If the endpoint closes, the plugin's own messages find no handler, and the plugin stays open. Rejects with
 * `invalid-argument` for a channel that is already served.
 */
declare function pluginEndpoint(plugin: Plugin, channels: ServedChannels, options?: EndpointOptions): Promise<Endpoint>;

export { pluginEndpoint, servePlugin };
export type { ServedChannels };
