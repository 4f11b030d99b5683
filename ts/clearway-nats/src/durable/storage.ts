// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { ClearwayError } from "clearway/remote";
import { opening, persistently, watchConnection } from "./connection.js";
import type { Names } from "./names.js";
import type { StreamSettings } from "./options.js";
import { ensureStreams, type FoundStreams } from "./streams.js";

/** What {@link Storage} needs. */
export interface StorageParts<Settings extends StreamSettings> {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly settings: Settings;
  readonly onError: (error: unknown) => void;
  /** Creates what this process needs besides the streams, if it does not exist. */
  extend?(settings: Settings): Promise<void>;
}

/** Listeners to a {@link Storage}. */
export type LossListener = (reason: ClearwayError) => void;

/**
 * The streams of a module. Makes them again, as they were, when the servers have lost them: a restart loses streams in memory, and an operator
 * may delete them.
 *
 * Looks at the streams when the connection is made again, and when a part of this process finds that a stream or a consumer does not answer.
 * After a new connection, the process is not sure of its streams until that look has ended. A message that was sent before must then not be
 * sent again, and a confirmation of a call could remove another one that has the same place in a new stream.
 */
export class Storage<Settings extends StreamSettings> {
  readonly #parts: StorageParts<Settings>;
  readonly #listeners = new Set<LossListener>();
  readonly #unwatch: () => void;
  #found: FoundStreams<Settings>;
  #looking: Promise<boolean> | undefined;
  #unsure: (() => void)[] | undefined;
  #reported = false;

  private constructor(parts: StorageParts<Settings>, found: FoundStreams<Settings>) {
    this.#parts = parts;
    this.#found = found;
    this.#unwatch = watchConnection(parts.connection, {
      disconnected: () => {
        this.#unsure ??= [];
      },
      reconnected: () => {
        this.#unsure ??= [];
        // A look that began earlier has lost its answers, and ends now.
        this.check().catch(() => {});
      },
      closed: () => this.#sure(),
    });
  }

  /** Creates what does not exist. Rejects with `connect-failed`. */
  static async open<Settings extends StreamSettings>(parts: StorageParts<Settings>): Promise<Storage<Settings>> {
    const { connection, manager, names, settings } = parts;
    const found = await opening(connection, `the streams of ${names.calls} cannot be created`, async () => {
      const seen = await ensureStreams(manager, names, settings);
      await parts.extend?.(seen.settings);
      return seen;
    });
    return new Storage(parts, found);
  }

  /** The settings, with what the existing streams have. */
  get settings(): Settings {
    return this.#found.settings;
  }

  /** Calls the listener when the servers have lost calls or outcomes and the streams are there again. Returns a function that ends this. */
  onLost(listener: LossListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Looks whether everything exists, and makes what does not. Resolves with whether the streams are others than before. Waits while the servers
   * do not answer. Rejects with an error of ours if they refuse, and with `transport-closed`.
   */
  check(): Promise<boolean> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#sure();
    });
    return this.#looking;
  }

  /** Runs a function when this process is sure of its streams: now, or after the look that a new connection begins. */
  whenSure(act: () => void): void {
    if (this.#unsure) this.#unsure.push(act);
    else act();
  }

  /** Ends the looks. What waits for one does not run any more. */
  close(): void {
    this.#unwatch();
    this.#listeners.clear();
  }

  async #look(): Promise<boolean> {
    const { connection, manager, names, onError, extend } = this.#parts;
    const { settings, configs, identity } = this.#found;
    try {
      const found = await persistently(connection, async () => {
        const seen = await ensureStreams(manager, names, settings, configs);
        await extend?.(seen.settings);
        return seen;
      });
      this.#found = found;
      this.#reported = false;
      if (found.identity === identity) return false;
    } catch (reason) {
      // A worker process asks again and again. It reports a lasting refusal once.
      if (!this.#reported && !connection.isClosed()) onError(reason);
      this.#reported = true;
      throw reason;
    }
    const error = new ClearwayError(
      "storage-lost",
      `the servers have lost the streams of ${names.calls}, and the calls and outcomes in them; they are made again`,
    );
    for (const each of [...this.#listeners]) each(error);
    onError(error);
    return true;
  }

  #sure(): void {
    const waiting = this.#unsure;
    this.#unsure = undefined;
    for (const act of waiting ?? []) act();
  }
}
