// SPDX-License-Identifier: MIT OR Apache-2.0
// Entry `clearway-native/channel`: a plugin's channels at an endpoint of `clearway/channel`, or as one.
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

/** Which of a plugin's channels an endpoint serves. */
export interface ServedChannels {
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
        // Encoded before this returns, and not released before it is answered: no copy of our own.
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
 * An endpoint on this thread whose other end is the plugin: its channels are called, listened to and handled with codecs, schemas,
 * deadlines and outcomes as those of any other end. Serves `channels` as {@link servePlugin} does, with the same copies. When the
 * plugin closes, calls fail as remote errors; the endpoint stays open. When the endpoint closes, the plugin's own messages find no
 * handler; the plugin stays open. Rejects with `invalid-argument`.
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
    // No bytes at all are how a method's reply says it.
    if ((error as { code?: unknown }).code === "not-implemented") return undefined;
    throw error;
  }
}

/** A message's bytes as they stay after its release: shared memory as it is, else a copy of native memory. */
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
    // Copies what it returns, but for bytes that may be shared.
    const value = codec.name === "binary" ? kept(event) : codec.decode(event.bytes ?? new Uint8Array());
    event.release();
    yield value;
  }
}
