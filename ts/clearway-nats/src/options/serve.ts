// SPDX-License-Identifier: MIT OR Apache-2.0
import { inspect } from "node:util";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Pool, PoolOptions } from "clearway";
import type { Extension, StandardMessageCodec } from "clearway/channel";
import { checked, invalid, type Rules, type Test } from "clearway/remote";
import type { Exposed } from "clearway/worker";
import { timers } from "../clock.js";
import { type DurableServeOptions, serveSettingsOf as durableSettingsOf } from "../durable/options.js";
import { type ConnectOptions, checkConnect, connectRules, moduleRules } from "./connect.js";

/** How calls reach the workers. See {@link ServeOptions.modes}. */
export type Mode = "request" | "durable";

/** Limits of a worker process. Each is charged to the caller whose message uses it, until the work has ended. */
export interface ServeLimits {
  /** Maximum number of open calls. A cancelled call counts until its task has ended. Calls above it fail with `queue-full`. Default 16,384. */
  callsMax?: number | undefined;
  /** Maximum number of open calls of one caller. Calls above it fail with `queue-full`. Default 8,192. */
  callsPerCallerMax?: number | undefined;
  /** Maximum size of a message with a call or a stream's value, in bytes. Larger ones fail with `too-large`. Default 64 MiB. */
  messageBytesMax?: number | undefined;
  /**
   * Maximum bytes of one caller here: arguments of open calls, incomplete messages, and values and results that wait. Arguments and values
   * count with their messages and with about the memory that they take. Default 128 MiB.
   */
  bytesPerCallerMax?: number | undefined;
  /**
   * The same for all callers together. In `durable` mode: maximum bytes of arguments from the object store that this process has at once; further
   * calls wait here. A call with more bytes than this runs while no other one has such arguments. Default 512 MiB.
   */
  bytesMax?: number | undefined;
}

/** Options of `serveTasks()`. `Setup` is the parameter of the module's `setup`. */
export interface ServeOptions<Setup = undefined> extends ConnectOptions {
  /** Name by which callers find the module. */
  module: string;
  /** Version of the module. Callers reach only workers of the version that they ask for. Default `"0"`. */
  version?: string | undefined;
  /**
   * The modes in which callers may reach the module. `durable` needs JetStream, which `nats-server -js` has. Default `["request"]`.
   */
  modes?: readonly Mode[] | undefined;
  /** The tasks that may run more than once. In `durable` mode, only these are repeated after a worker has died. Default none. */
  idempotent?: readonly string[] | undefined;
  /** Options of `durable` mode. */
  durable?: DurableServeOptions | undefined;
  /** Options of the local pool that runs the tasks. */
  pool?: PoolOptions<Setup> | undefined;
  /** The app's own types on the wire. The callers need the same ones. */
  extensions?: readonly Extension[] | undefined;
  limits?: ServeLimits | undefined;
  /** Time without a sign of life after which a caller counts as gone, and its calls are cancelled, in milliseconds. Default 5,000. */
  silenceMs?: number | undefined;
  /**
   * Receives errors that belong to no call, such as a lost connection. Default: `process.emitWarning`. An error that it throws is an
   * uncaught error of the app, as with `pool()`: without a listener of `uncaughtException`, Node ends the process.
   */
  onError?: { method(error: unknown): void }["method"] | undefined; // `(error: Error) => …` fits a method only
}

/** Options of a server, whatever the `setup` of the module is. */
export type AnyServeOptions = Omit<ServeOptions, "pool"> & { pool?: object | undefined };

/** The options of a server, validated and with defaults. */
export interface ServeSettings extends Omit<ServeOptions, "limits" | "onError" | "pool"> {
  readonly pool: PoolOptions<never> | undefined;
  readonly version: string;
  readonly modes: readonly Mode[];
  readonly idempotent: readonly string[];
  readonly extensions: readonly Extension[];
  readonly limits: Required<ServeLimits>;
  readonly silenceMs: number;
  readonly onError: (error: unknown) => void;
}

const modes: Test = (value) =>
  (Array.isArray(value) && value.length > 0 && value.every((each) => each === "request" || each === "durable")) ||
  'an array of "request" and "durable"';

const names: Test = (value) =>
  (Array.isArray(value) && value.every((each) => typeof each === "string")) || "an array of the names of tasks";

const count: Test = (value) => (Number.isInteger(value) && (value as number) >= 1) || "a whole number, 1 or more";

/** The rule for `silenceMs`: a worker gives a sign of life every second, and one or two may be late. */
export const silenceRule: Test = (value) =>
  (typeof value === "number" && value >= 3_000) || "a number, 3000 or more, or Infinity";

const rules: Rules = {
  ...connectRules,
  ...moduleRules,
  modes,
  idempotent: names,
  durable: (value) => (typeof value === "object" && value !== null) || "an object with the options of durable mode",
  pool: (value) => (typeof value === "object" && value !== null) || "an object with the options of a pool",
  extensions: (value) => Array.isArray(value) || "an array of extensions",
  limits: {
    callsMax: count,
    callsPerCallerMax: count,
    messageBytesMax: count,
    bytesPerCallerMax: count,
    bytesMax: count,
  },
  silenceMs: silenceRule,
  onError: "function",
};

const onlyDurable = 'left out unless modes has "durable"';
const mebibyte = 2 ** 20;

/** Defaults of {@link ServeLimits}. */
export const serveLimits: Required<ServeLimits> = {
  callsMax: 16_384,
  callsPerCallerMax: 8_192,
  messageBytesMax: 64 * mebibyte,
  bytesPerCallerMax: 128 * mebibyte,
  bytesMax: 512 * mebibyte,
};

const defaults = {
  version: "0",
  modes: ["request"],
  idempotent: [],
  extensions: [],
  limits: serveLimits,
  silenceMs: 5_000,
};

/** Validates the options of a server and adds the defaults. Throws `invalid-argument`, which names the first invalid option. */
export function serveSettingsOf(options: AnyServeOptions): ServeSettings {
  const given = checked(options as object, rules, defaults) as ServeSettings & AnyServeOptions;
  checkConnect(given);
  if (given.modes.includes("durable")) durableSettingsOf(given.durable ?? {});
  else if (given.idempotent.length > 0) throw invalid("idempotent", onlyDurable, given.idempotent);
  else if (given.durable !== undefined) throw invalid("durable", onlyDurable, given.durable);
  return { ...given, onError: reporter(options, given.onError) };
}

/**
 * Returns a function that passes errors to `onError` in a microtask, or prints them as warnings. Never throws: an error of `onError` is an
 * uncaught error of the app, and the calls go on.
 */
export function reporter(options: object, onError: ((error: unknown) => void) | undefined): (error: unknown) => void {
  if (onError) return (error) => timers.queueMicrotask(() => onError.call(options, error));
  return (error) => process.emitWarning(error instanceof Error || typeof error === "string" ? error : inspect(error));
}

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
