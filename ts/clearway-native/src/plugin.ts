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

export interface PluginOptions {
  /**
   * How JavaScript sees native memory: the first of `shared`, `detachable`, `copied`, from this one on, that the runtime
   * can. Default `detachable`: its views end with their release. `shared` is for memory that goes on to worker threads.
   */
  views?: ViewKind;
  /** Told what the plugin logs: `level` 0 to 3, from debug to error. Default: warnings and errors to stderr. */
  onLog?(level: number, text: string): void;
}

/** What a plugin's opening has done so far. A snapshot. */
export interface PluginStats {
  /** Bytes that crossed, and how. */
  ledger: NativeLedger;
  /** Native memories that nobody released, and the garbage collector did. Above 0, a `using` is missing somewhere. */
  leaked: number;
  /** Counters of the native side. */
  native: Record<string, number>;
}

export interface SendOptions {
  /** Memories that go along with the message. */
  attachments?: Attachments;
  /** Rejects the call with its reason, and tells the plugin that nobody waits any more. */
  signal?: AbortSignal;
}

/** One of a plugin's channels. Cheap; keep it for calls that share it. */
export interface NativeChannel {
  readonly name: string;
  /**
   * Calls the handler on this thread, now: for handlers that run direct. Copies nothing to native code; allocates nothing
   * where the answer is null. `bytes` may be written to by the handler. Throws what the handler answers with, `no-handler`,
   * and `not-direct` for a handler that runs elsewhere or answers later.
   */
  call(message?: Payload, attachments?: Attachments): NativeMessage;
  /**
   * Sends to the handler where it runs: on the plugin's pool, on its serial queue, or here. Bytes of 4096 or more are lent,
   * not copied: leave them alone until the promise settles. Never blocks.
   */
  send(message?: Payload, options?: SendOptions): Promise<NativeMessage>;
  /** The channel's events, with credit. */
  listen(options?: ListenOptions): NativeEvents;
}

/** A native plugin, opened for this thread. Another thread opens it for itself; both may be open at once. */
export interface Plugin extends AsyncDisposable, Disposable {
  readonly path: string;
  channel(name: string): NativeChannel;
  /** Native memory that JavaScript fills and hands over without a copy. Holds what it held before: it is pooled. */
  allocate(size: number): NativeMemory;
  /** Lets native code use memory of JavaScript's beyond one call. Throws `would-copy` where this Node cannot keep it. */
  lend(bytes: Uint8Array): LentMemory;
  /** Handles the plugin's own messages. What the message holds is released when the handler's promise settles. */
  handle(channel: string, handler: (message: NativeMessage) => Payload | Promise<Payload>): Disposable;
  stats(): PluginStats;
  /**
   * Ends it: calls under way fail with `closed`, streams end with it, and when this settles none of its code runs for this
   * opening any more. Memory that is out stays until it is released. Waits for handlers that run, and holds nobody up. An opening
   * that is not closed stays, with about a megabyte, until its thread ends: its sources and handlers may be in use.
   */
  close(): Promise<void>;
}

/**
 * Loads a plugin, a shared library that exports `clearway_plugin_init` (native/include/clearway.h). Code in it runs with all
 * the rights of the process. Throws `addon-missing`, `load-failed`, `not-a-plugin`, `wrong-version`, `init-failed`.
 */
export async function loadPlugin(path: string | URL, options: PluginOptions = {}): Promise<Plugin> {
  const { views = "detachable", onLog = toStderr } = options;
  if (!["shared", "detachable", "copied"].includes(views))
    throw invalid("views", "shared, detachable or copied", views);
  // A bare name would be looked for in the system's folders.
  const file = path instanceof URL ? fileURLToPath(path) : resolve(path);
  return new OpenPlugin(new Port(addon(), file, views, onLog));
}

/** What this Node can do with native memory. Loads the addon; throws `addon-missing`. */
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
