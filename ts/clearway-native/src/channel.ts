// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects a plugin's channels with endpoints of `clearway/channel`.
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
import { checked, type Rules, strings } from "./checked.js";
import { invalid } from "./error.js";
import { queueRules, type WhenFull } from "./events.js";
import type { NativeMessage } from "./message.js";
import type { Plugin } from "./plugin.js";

/** The channels of a plugin that an endpoint serves. */
export interface ServedChannels {
  /** The names of the channels for messages and method calls. They may use any codec, because their bytes are passed on unchanged. */
  messages?: readonly string[] | undefined;
  /** The channels of events by name, each with the codec of its events. The events are decoded, and encoded again for the endpoint. */
  events?: Readonly<Record<string, MessageCodec<unknown>>> | undefined;
  /** The names of the channels for the plugin's own messages. The endpoint's other end handles these messages. */
  asks?: readonly string[] | undefined;
  /** The maximum number of events that wait in native code, per listener. Default: 64. */
  items?: number | undefined;
  /** The policy for events beyond `items`. Default: `wait`. */
  whenFull?: WhenFull | undefined;
}

const servedRules: Rules = {
  ...queueRules,
  messages: strings,
  events: (value) => (typeof value === "object" && value !== null) || "an object of codecs",
  asks: strings,
};

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
export function servePlugin(plugin: Plugin, endpoint: Endpoint, channels: ServedChannels): Disposable {
  const settings = checked(channels, servedRules);
  const served: Disposable[] = [];
  const end = (): void => {
    for (const each of served.splice(0)) each[Symbol.dispose]();
  };
  try {
    for (const name of settings.messages ?? []) {
      served.push(
        endpoint.messages(name, binaryCodec).handle((bytes, { signal }) => send(plugin, name, bytes, signal)),
      );
    }
    for (const [name, codec] of Object.entries(settings.events ?? {})) {
      served.push(
        endpoint.events(name).serve((args, { signal }) => events(plugin, name, codec, args, signal, settings)),
      );
    }
    for (const name of settings.asks ?? []) {
      const remote = endpoint.messages(name, binaryCodec);
      served.push(
        // Needs no copy: `send` encodes the bytes before it returns, and the plugin's message is released only after the answer.
        plugin.handle(name, async ({ bytes }) => (await remote.send(bytes ?? new Uint8Array())) ?? null),
      );
    }
  } catch (error) {
    end();
    throw error;
  }
  return { [Symbol.dispose]: end };
}

/**
 * Returns an endpoint on this thread whose other end is the plugin. Its channels have codecs, schemas, deadlines and outcomes, as those of
 * every endpoint. Serves `channels` as {@link servePlugin} does, with the same copies. If the plugin closes, calls fail as remote errors,
 * and the endpoint stays open. If the endpoint closes, the plugin's own messages find no handler, and the plugin stays open. Rejects with
 * `invalid-argument` for a channel that is already served.
 */
export async function pluginEndpoint(
  plugin: Plugin,
  channels: ServedChannels,
  options?: EndpointOptions,
): Promise<Endpoint> {
  const [a, b] = memoryPair();
  try {
    const [endpoint, pluginSide] = await Promise.all([connect(a, options), connect(b)]);
    const served = servePlugin(plugin, pluginSide, channels);
    void endpoint.closed.then(() => served[Symbol.dispose]());
    return endpoint;
  } catch (error) {
    // After a wrong option, the other side would wait for the hello until its time is over.
    for (const side of [a, b]) side.close();
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
    // The bytes came by the endpoint, and no other code uses them. A call that its caller has left has its place until its handler has ended.
    const answer = await plugin.channel(channel).send(bytes?.length ? bytes : null, { signal, givesBytes: true });
    return keptBytes(answer) ?? undefined;
  } catch (error) {
    // A reply without bytes tells the caller of a method that the method is not implemented.
    if ((error as { code?: unknown } | null | undefined)?.code === "not-implemented") return undefined;
    throw error;
  }
}

/** Releases a message, and returns its bytes in a form that stays valid. Copies native memory unless it is shared. */
function keptBytes(message: NativeMessage): Uint8Array | null {
  try {
    const { bytes, memory } = message;
    return memory === undefined || memory.kind === "shared" ? bytes : (bytes?.slice() ?? null);
  } finally {
    message.release();
  }
}

/** Releases an event, also if its codec throws, and returns its value. */
function decodedValue(event: NativeMessage, codec: MessageCodec<unknown>): unknown {
  // `decode` copies the bytes that the value keeps. The binary codec needs no decoding, and `keptBytes` does not copy shared memory. A codec of
  // the app may be a changed copy of it.
  if (codec === (binaryCodec as unknown)) return keptBytes(event);
  try {
    const value = codec.decode(event.bytes ?? new Uint8Array());
    // The generator below would wait for a promise, even after the listener has left.
    if (typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function")
      throw invalid("codec.decode()", "a function that returns its value at once", "a promise");
    return value;
  } finally {
    event.release();
  }
}

async function* events(
  plugin: Plugin,
  channel: string,
  codec: MessageCodec<unknown>,
  args: unknown,
  signal: AbortSignal,
  { items = 64, whenFull = "wait" }: ServedChannels,
): AsyncGenerator<unknown> {
  const encodedArgs = standardMessageCodec.encode(args);
  for await (const event of plugin.channel(channel).listen({ arguments: encodedArgs, items, whenFull, signal })) {
    yield decodedValue(event, codec);
  }
}
