// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Serves a plugin's channels at an endpoint of `clearway/channel`, or as one.
 *
 * @module clearway-native/channel
 */

import {
  binaryCodec,
  connect,
  type Endpoint,
  type EndpointOptions,
  type MessageCodec,
  memoryPair,
  standardMessageCodec,
} from "clearway/channel";
import type { WhenFull } from "./events.js";
import type { NativeMessage } from "./message.js";
import type { Plugin } from "./plugin.js";

/** The channels of a plugin that an endpoint serves. */
export interface ServedChannels {
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
export function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable {
  const served: Disposable[] = [];
  const end = (): void => {
    for (const each of served.splice(0)) each[Symbol.dispose]();
  };
  try {
    for (const name of channels.messages ?? []) {
      served.push(
        endpoint.messages(name, binaryCodec).handle((bytes, { signal }) => send(plugin, name, bytes, signal)),
      );
    }
    for (const [name, codec] of Object.entries(channels.events ?? {})) {
      served.push(
        endpoint.events(name).serve((args, { signal }) => events(plugin, name, codec, args, signal, channels)),
      );
    }
    for (const name of channels.asks ?? []) {
      const there = endpoint.messages(name, binaryCodec);
      served.push(
        // `send` encodes before it returns, and the message is released only after the answer. No copy is needed.
        plugin.handle(name, async ({ bytes }) => (await there.send(bytes ?? new Uint8Array())) ?? null),
      );
    }
  } catch (error) {
    end();
    throw error;
  }
  return { [Symbol.dispose]: end };
}

/**
 * Returns an endpoint on this thread whose other end is the plugin. Channels have codecs, schemas, deadlines and outcomes, as with any
 * other end. Serves `channels` as {@link servePlugin} does, with the same copies. If the plugin closes, calls fail as remote errors, but
 * the endpoint stays open. If the endpoint closes, the plugin's own messages find no handler, but the plugin stays open. Rejects with
 * `invalid-argument`.
 */
export async function pluginEndpoint(
  plugin: Plugin,
  channels: ServedChannels,
  options?: EndpointOptions,
): Promise<Endpoint> {
  const [a, b] = memoryPair();
  const [here, there] = await Promise.all([connect(a, options), connect(b)]);
  try {
    const served = servePlugin(plugin, there, channels);
    void here.closed.then(() => served[Symbol.dispose]());
    return here;
  } catch (error) {
    here.terminate();
    throw error;
  }
}

async function send(
  plugin: Plugin,
  channel: string,
  bytes: Uint8Array | null,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    const answer = await plugin.channel(channel).send(bytes?.length ? bytes : null, { signal });
    const own = kept(answer);
    answer.release();
    return own ?? undefined;
  } catch (error) {
    // A method's reply without bytes means "not implemented".
    if ((error as { code?: unknown }).code === "not-implemented") return undefined;
    throw error;
  }
}

/** Returns bytes that stay valid after the message's release: shared memory itself, or a copy of other native memory. */
function kept({ bytes, memory }: NativeMessage): Uint8Array | null {
  return memory === undefined || memory.kind === "shared" ? bytes : (bytes?.slice() ?? null);
}

async function* events(
  plugin: Plugin,
  channel: string,
  codec: MessageCodec<unknown>,
  args: unknown,
  signal: AbortSignal,
  { items = 64, whenFull = "wait" }: ServedChannels,
): AsyncGenerator<unknown> {
  const told = standardMessageCodec.encode(args);
  for await (const event of plugin.channel(channel).listen({ arguments: told, items, whenFull, signal })) {
    // Decoding copies. Bytes of the binary codec are not copied if their memory is shared.
    const value = codec.name === "binary" ? kept(event) : codec.decode(event.bytes ?? new Uint8Array());
    event.release();
    yield value;
  }
}
