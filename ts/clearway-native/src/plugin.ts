// SPDX-License-Identifier: MIT OR Apache-2.0
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addon, type NativeFeatures, type ViewKind } from "./addon.js";
import { invalid, textOf } from "./error.js";
import { type ListenOptions, listen, type NativeEvents } from "./events.js";
import { type NativeLedger, snapshot } from "./ledger.js";
import type { LentMemory } from "./lent.js";
import type { NativeMemory } from "./memory.js";
import type { NativeMessage } from "./message.js";
import type { Attachments, Payload } from "./payload.js";
import { Port } from "./port.js";
import { statuses } from "./status.js";

/** Options of `loadPlugin`. */
export interface PluginOptions {
  /**
   * The preferred kind of view of native memory. If the runtime does not support it, the next kind in the order `shared`, `detachable`,
   * `copied` is used. Default: `detachable`, whose views end with their release. Use `shared` for memory that goes to worker threads.
   */
  views?: ViewKind;
  /** Receives the plugin's log: `level` 0 to 3, from debug to error. Default: warnings and errors go to stderr. */
  onLog?(level: number, text: string): void;
}

/** Counters of one plugin instance. A snapshot. */
export interface PluginStats {
  /** The bytes that crossed, by the way in which they crossed. */
  ledger: NativeLedger;
  /** The number of native memories that the garbage collector released. If it is above 0, a `using` or `release()` is missing. */
  leaked: number;
  /** Counters of the native side. */
  native: Record<string, number>;
}

/** Options of a call to a plugin. */
export interface SendOptions {
  /** Memories attached to the message. */
  attachments?: Attachments;
  /** Rejects the call with the signal's reason. The plugin can check that the caller no longer waits. */
  signal?: AbortSignal;
}

/** One of a plugin's channels. It is cheap. Reuse it for further calls. */
export interface NativeChannel {
  readonly name: string;
  /**
   * Calls the handler at once on this thread. Use it for direct handlers only. Copies nothing to native code, and allocates nothing if
   * the answer is null. The handler may write to the message's bytes. Throws the handler's error, `no-handler`, and `not-direct` for a
   * handler that runs on another thread or answers later.
   */
  call(message?: Payload, attachments?: Attachments): NativeMessage;
  /**
   * Sends to the handler on its own thread: on the plugin's pool, on its serial queue, or on this thread for a direct handler. Messages
   * of 4096 bytes or more are lent, not copied. Do not use their bytes until the promise settles. Does not wait for handlers on other
   * threads.
   */
  send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
  /** Listens to the channel's events, with back-pressure. */
  listen(options?: ListenOptions): NativeEvents;
}

/** A native plugin, opened for this thread. Each thread opens its own instance. Several instances may be open at once. */
export interface Plugin extends AsyncDisposable, Disposable {
  readonly path: string;
  /** Returns the plugin's channel with that name. Does not check that the plugin serves the channel; a call does. */
  channel(name: string): NativeChannel;
  /**
   * Allocates native memory. JavaScript can fill it and pass it on without a copy. The memory is pooled and not cleared: it may hold old
   * contents.
   */
  allocate(size: number): NativeMemory;
  /** Lends JavaScript's memory to native code beyond one call. Throws `would-copy` if the memory cannot be kept. */
  lend(bytes: Uint8Array): LentMemory;
  /** Handles the plugin's own messages on a channel. Each message is released when the handler's promise settles. */
  handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
  /** Returns a copy of the counters. */
  stats(): PluginStats;
  /**
   * Closes the plugin for this thread. Open calls and streams fail with `closed`. After this settles, none of the plugin's code runs for
   * this instance. Memory in use stays valid until its release. Waits for running handlers, without blocking the thread. An instance that
   * is not closed keeps about a megabyte until its thread ends, because its sources and handlers may be in use.
   */
  close(): Promise<void>;
}

/**
 * Loads a plugin, a shared library that exports `clearway_plugin_init` (native/include/clearway.h). Its code runs with all rights of the
 * process. Throws `addon-missing`, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
 */
export async function loadPlugin(path: string | URL, options: PluginOptions = {}): Promise<Plugin> {
  const { views = "detachable", onLog = toStderr } = options;
  if (!["shared", "detachable", "copied"].includes(views))
    throw invalid("views", "shared, detachable or copied", views);
  // The system would search its own folders for a bare file name.
  const file = path instanceof URL ? fileURLToPath(path) : resolve(path);
  return new OpenPlugin(new Port(addon(), file, views, onLog));
}

/** Returns this Node's features for native memory. Loads the addon. Throws `addon-missing`. */
export function nativeFeatures(): NativeFeatures {
  return addon().features();
}

class OpenPlugin implements Plugin {
  readonly path: string;
  readonly #port: Port;

  constructor(port: Port) {
    this.#port = port;
    this.path = port.path;
  }

  channel(name: string): NativeChannel {
    return new Channel(this.#port, name);
  }

  allocate(size: number): NativeMemory {
    if (!(Number.isSafeInteger(size) && size >= 0)) throw invalid("size", "a whole number, at least 0", size);
    return this.#port.allocate(size);
  }

  lend(bytes: Uint8Array): LentMemory {
    if (!(bytes instanceof Uint8Array)) throw invalid("bytes", "a Uint8Array", bytes);
    return this.#port.lend(bytes);
  }

  handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable {
    const { handlers } = this.#port;
    if (handlers.has(channel)) throw invalid("channel", "one that has no handler yet", channel);
    handlers.set(channel, async (message, reply) => {
      try {
        this.#port.answer(reply, await handler(message));
      } catch (error) {
        this.#port.answerError(reply, statuses.FAILED, textOf(error));
      } finally {
        message.release();
      }
    });
    return { [Symbol.dispose]: () => void handlers.delete(channel) };
  }

  stats(): PluginStats {
    const { addon, port, ledger, leaked } = this.#port;
    return { ledger: snapshot(ledger), leaked, native: addon.stats(port) };
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  [Symbol.dispose](): void {
    void this.#port.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#port.close();
  }
}

class Channel implements NativeChannel {
  readonly #port: Port;
  #line = -1;

  constructor(
    port: Port,
    readonly name: string,
  ) {
    this.#port = port;
  }

  call(message: Payload = null, attachments?: Attachments): NativeMessage {
    if (this.#line < 0) this.#line = this.#port.line(this.name);
    return this.#port.call(this.#line, this.name, message, attachments);
  }

  send(message: Payload = null, options: SendOptions = {}): Promise<NativeMessage> {
    return this.#port.send(this.name, message, options.attachments, options.signal);
  }

  listen(options: ListenOptions = {}): NativeEvents {
    return listen(this.#port, this.name, options);
  }
}

function toStderr(level: number, text: string): void {
  if (level >= 2) console.error(`clearway plugin: ${text}`);
}
