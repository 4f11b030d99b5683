// SPDX-License-Identifier: MIT OR Apache-2.0
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addon, type NativeFeatures, type ViewKind } from "./addon.js";
import { checked, type Rules, typed } from "./checked.js";
import { invalid, statuses, textOf, toStderr } from "./error.js";
import { type ListenOptions, listen, type NativeEvents } from "./events.js";
import { type NativeLedger, snapshot } from "./ledger.js";
import type { NativeMemory } from "./memory.js";
import type { Attachments, LentMemory, MessageSink, NativeMessage, Payload } from "./message.js";
import { Port } from "./port.js";

/** Options of `loadPlugin`. */
export interface PluginOptions {
  /**
   * The preferred kind of view of native memory. If the runtime does not support this kind, the plugin uses the next kind in the order
   * `shared`, `detachable`, `copied`. Default: `detachable`, whose views are empty after their release. Use `shared` for memory that goes
   * to worker threads.
   */
  views?: ViewKind | undefined;
  /**
   * Receives the plugin's log lines. `level` is 0 for debug, 1 for info, 2 for warning, 3 for error. Default: prints 2 and 3 to stderr. If
   * it throws or rejects, the error is printed with `console.error`, and has no other effect.
   */
  onLog?: ((level: number, text: string) => void) | undefined;
}

/** The counters of one plugin instance, at one point in time. */
export interface PluginStats {
  /** The numbers of bytes that were shared, moved and copied between JavaScript and native code. */
  ledger: NativeLedger;
  /** The number of native memories and loans that the garbage collector released. If it is above 0, a `using` or `release()` is missing. */
  leaked: number;
  /** The number of loans that native code has not returned: messages without a copy, and memory from `lend`. */
  lent: number;
  /** The counters of the native side, by name. */
  native: Record<string, number>;
}

/** Options of a call to a plugin. */
export interface SendOptions {
  /** The memories attached to the message. */
  attachments?: Attachments | undefined;
  /**
   * When the signal aborts, the call rejects at once with the signal's reason, and the plugin can find out that the caller no longer waits.
   * A call with a signal copies the message's bytes, because the handler may still use them after the abort.
   */
  signal?: AbortSignal | undefined;
  /**
   * @internal Whether the caller never uses the message's bytes again. They are then lent even if there is a signal, and the call settles when
   * its handler has ended, also after an abort.
   */
  givesBytes?: boolean | undefined;
}

/** A channel of a plugin. Creating one is cheap. Reuse it for further calls, because its first `call` prepares the following ones. */
export interface NativeChannel {
  readonly name: string;
  /**
   * Calls the handler at once, on this thread. Use it only for direct handlers, which the plugin registers to run on the calling thread.
   * Does not copy the message. Allocates nothing if the call has no attachments and the answer is null. The handler may write to the
   * message's bytes. Throws the handler's error. Throws `no-handler` if the channel has no handler. Throws `not-direct` for a
   * handler that runs on another thread, without calling it, and after one that answers later.
   */
  call(message?: Payload, attachments?: Attachments): NativeMessage;
  /**
   * Sends a message and resolves with the handler's answer. The handler runs on the plugin's pool or on its serial queue; a direct handler
   * runs on this thread before `send` returns. `send` does not block while a handler runs on another thread.
   *
   * Lends a message of 4096 bytes or more instead of copying it, if there is no `signal` and this Node can keep its memory. Do not use a
   * lent message's bytes until the promise settles. The promise settles when the handler has answered; if the plugin closes before, it
   * settles when the handler has returned. A message that is in `NativeMemory` or `LentMemory` is never copied.
   */
  send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
  /** Listens to the channel's events, with back-pressure. Throws `invalid-argument` for wrong options. */
  listen(options?: ListenOptions): NativeEvents;
}

/**
 * An instance of a native plugin. It belongs to the thread that has loaded it. Several instances of a plugin may be open at once, in one
 * thread or in several threads.
 */
export interface Plugin extends AsyncDisposable, Disposable {
  /** The path of the plugin's library. */
  readonly path: string;
  /** Returns the channel with that name. Does not check that the plugin serves the channel. A call on the channel checks it. */
  channel(name: string): NativeChannel;
  /**
   * Allocates native memory of `size` bytes. JavaScript can fill it and send it without a copy. The memory comes from a pool and is not
   * cleared, so it may contain old bytes.
   */
  allocate(size: number): NativeMemory;
  /**
   * Lends JavaScript's memory to native code, which may use it after a call has returned. Throws `would-copy` if this Node cannot keep the
   * memory, and `invalid-argument` for a resizable ArrayBuffer.
   */
  lend(bytes: Uint8Array): LentMemory;
  /**
   * Sets the handler of the messages that the plugin sends on a channel. The handler's result is the answer. The answer's bytes belong to
   * the plugin, so do not change them afterwards. Each message is released when the handler's promise settles. To remove the handler,
   * dispose the object that `handle` returns. Throws `invalid-argument` if the channel has a handler.
   */
  handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
  /** Returns the current counters. */
  stats(): PluginStats;
  /**
   * Closes this instance of the plugin. Streams that are open fail with `closed`. Queued messages are still handled for one second; this
   * time is fixed. Messages that are still queued then, and calls that still wait for an answer, fail with `closed`. The promise settles
   * after all running handlers have returned, however long that takes; the thread is not blocked meanwhile. After that, none of the
   * plugin's code runs for this instance. Memory in use stays valid until its release. An instance that is not closed keeps about one
   * megabyte until its thread ends, because its sources and handlers may be in use.
   */
  close(): Promise<void>;
}

/**
 * Loads a plugin and opens an instance of it for this thread. A plugin is a shared library that exports `clearway_plugin_init`
 * (native/include/clearway.h). The plugin's code runs with all rights of the process. Rejects with `invalid-argument`, `addon-missing`,
 * `load-failed`, `not-a-plugin`, `wrong-version` or `init-failed`.
 */
export async function loadPlugin(path: string | URL, options: PluginOptions = {}): Promise<Plugin> {
  const { views = "detachable", onLog = toStderr } = checked(options, pluginRules);
  if (typeof path !== "string" && !(path instanceof URL)) throw invalid("path", "a string or a URL", path);
  // Makes the path absolute: for a name without a folder, the system would search its own folders.
  const file = path instanceof URL ? fileURLToPath(path) : resolve(path);
  return new OpenPlugin(new Port(addon(), file, views, (level, text) => Reflect.apply(onLog, options, [level, text])));
}

const pluginRules: Rules = { views: ["shared", "detachable", "copied"], onLog: "function" };

/** Returns the features of this Node for native memory. Loads the addon. Throws `addon-missing`. */
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
    return new Channel(this.#port, typed("name", "string", name));
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
    typed("channel", "string", channel);
    typed("handler", "function", handler);
    if (handlers.has(channel)) throw invalid("channel", "one that has no handler yet", channel);
    const sink: MessageSink = async (message, reply) => {
      try {
        this.#port.answer(reply, await handler(message));
      } catch (error) {
        this.#port.answerError(reply, statuses.FAILED, textOf(error));
      } finally {
        message.release();
      }
    };
    handlers.set(channel, sink);
    return {
      [Symbol.dispose]() {
        // A second disposal must not remove a handler that was set after the first disposal.
        if (handlers.get(channel) === sink) handlers.delete(channel);
      },
    };
  }

  stats(): PluginStats {
    const { addon, port, ledger, leaked, loans } = this.#port;
    return { ledger: snapshot(ledger), leaked, lent: loans.count, native: addon.stats(port) };
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

  send(message: Payload = null, options?: SendOptions): Promise<NativeMessage> {
    return this.#port.send(this.name, message, options);
  }

  listen(options: ListenOptions = {}): NativeEvents {
    return listen(this.#port, this.name, options);
  }
}
