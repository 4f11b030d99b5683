// SPDX-License-Identifier: MIT OR Apache-2.0
import type { NatsConnection } from "@nats-io/transport-node";
import type { Pool } from "clearway";
import type { StandardMessageCodec } from "clearway/channel";
import type { Exposed } from "clearway/worker";
import type { ServeSettings } from "../options/serve.js";

/** A task module of which only the form is known. */
export interface AnyModule {
  default: Exposed<Record<string, (...args: unknown[]) => unknown>>;
}

/** Everything that the modes of a server share. */
export interface ServeContext {
  readonly connection: NatsConnection;
  readonly settings: ServeSettings;
  /** Id of this worker process. It is a valid part of a NATS subject. */
  readonly workerId: string;
  /** The codec of all messages, with the app's extensions. */
  readonly codec: StandardMessageCodec;
  /** The local pool that runs the tasks. It is ready: a call of a plain task returns a promise, and a call of a generator a stream. */
  readonly pool: Pool<AnyModule>;
  /** The names of the module's tasks. */
  readonly tasks: readonly string[];
}

/** One mode of a server, after its start. */
export interface ServedMode<Stats> {
  /** Returns counters. */
  stats(): Stats;
  /** Takes no more calls, and settles when the open ones have ended, or after `timeoutMs` milliseconds, when it has cancelled them. */
  close(timeoutMs: number): Promise<void>;
}
