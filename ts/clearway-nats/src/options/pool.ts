// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Window } from "clearway";
import type { Extension } from "clearway/channel";
import { checked, type Rules, type Test } from "clearway/remote";
import { callerSettingsOf, type DurableCallerOptions } from "../durable/options.js";
import { creditMax } from "../stream/credit.js";
import { anObject, type ConnectOptions, checkConnect, connectRules, moduleRules } from "./connect.js";
import { reporter, silenceRule } from "./serve.js";

/** Limits of a remote pool. Workers are peers like any other: what they send is charged before it is kept. */
export interface RemotePoolLimits {
  /** Maximum number of open calls. A call above it fails with `queue-full`. Default 65,536. */
  callsMax?: number | undefined;
  /** Maximum size of a message from a worker, in bytes: a result, or values of a stream. Larger ones fail their call. Default 64 MiB. */
  messageBytesMax?: number | undefined;
  /** Maximum bytes of all incomplete messages from workers. Default 512 MiB. */
  bytesMax?: number | undefined;
}

/** The options that remote pools of both modes have. */
export interface CommonPoolOptions extends ConnectOptions {
  /** Name of the task module, as its workers have it. */
  module: string;
  /** Version of the module. Only workers of this version receive the calls. Default `"0"`. */
  version?: string | undefined;
  /** The app's own types on the wire. The workers need the same ones. */
  extensions?: readonly Extension[] | undefined;
  /**
   * Receives errors that belong to no call, such as a lost connection. Default: `process.emitWarning`. An error that it throws is an
   * uncaught error of the app, as with `pool()`.
   */
  onError?: { method(error: unknown): void }["method"] | undefined; // `(error: Error) => …` fits a method only
}

/** Options of a remote pool in `request` mode. */
export interface RemotePoolOptions extends CommonPoolOptions {
  /**
   * How calls reach the workers. With `"request"`, a call runs at most once, with the lowest latency, and fails if no worker is there. With
   * `"durable"`, a call is stored until a worker has run it, and survives the caller and any worker. Default `"request"`.
   */
  mode?: "request" | undefined;
  /**
   * Time without a sign of life of a call after which it fails with `worker-lost`, in milliseconds. Workers give one every second for each
   * call that runs. Default 5,000.
   */
  silenceMs?: number | undefined;
  /** The window of streams: how far a task may run ahead of its reader. Default 256 values and 1 MiB. */
  window?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  limits?: RemotePoolLimits | undefined;
}

/** Options of a remote pool in `durable` mode. */
export interface DurableRemotePoolOptions extends CommonPoolOptions {
  mode: "durable";
  durable?: DurableCallerOptions | undefined;
}

/** Options of calls: `pool.with(options).call.name()`. The options apply to one call or to many. */
export interface RemoteCallOptions {
  /** Cancels the call. The call then rejects with the signal's reason at once, and the task's own signal aborts. */
  signal?: AbortSignal | undefined;
  /** Maximum time for the task, in milliseconds from its start in the worker. */
  timeoutMs?: number | undefined;
  /** Maximum time for the whole call, in milliseconds from the call. For a stream, the time counts from its first `next()`. */
  deadlineMs?: number | undefined;
  /**
   * Calls with the same key run in the same worker, one after the other, as long as no worker process starts or ends. The first call with a
   * key may wait a quarter of a second, until the pool knows its workers.
   */
  key?: string | number | undefined;
  /** Priority in the queue of the worker process. Calls of higher priority run first. Default 0. */
  priority?: number | undefined;
  /** The same as {@link RemotePoolOptions.window}, for this call. */
  window?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  /**
   * Receives the values that the task passes to `progress()`, in order and never after the result. If it throws, the call fails with that
   * error.
   */
  onProgress?: { method(value: unknown): void }["method"] | undefined; // checked as a method's parameter
}

/** The options of a remote pool in `request` mode, validated and with defaults. */
export interface RequestSettings {
  readonly module: string;
  readonly version: string;
  readonly extensions: readonly Extension[];
  readonly silenceMs: number;
  readonly window: Window;
  readonly limits: Required<RemotePoolLimits>;
  readonly onError: (error: unknown) => void;
}

/** The options of calls, validated and with defaults. Made once per `with()`. */
export interface CallSettings {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly key: string | undefined;
  readonly priority: number;
  readonly window: Window;
  readonly onProgress: ((value: unknown) => void) | undefined;
  /** Whether the call has no options that its worker must know. */
  readonly plain: boolean;
}

const count: Test = (value) => (Number.isInteger(value) && (value as number) >= 1) || "a whole number, 1 or more";
// A worker does not send further ahead than this, whatever credit it has.
const windowRules: Rules = {
  items: (value) => (count(value) === true && (value as number) <= creditMax.items) || `1 to ${creditMax.items}`,
  bytes: (value) =>
    (typeof value === "number" && value >= 1 && value <= creditMax.bytes) || `a number from 1 to ${creditMax.bytes}`,
};
const abortSignal: Test = (value) =>
  typeof (value as AbortSignal | null)?.addEventListener === "function" || "an AbortSignal";
const finite: Test = (value) => Number.isFinite(value) || "a finite number";
const keyCharactersMax = 1_024;
const keyRule: Test = (value) =>
  typeof value === "number" ||
  (typeof value === "string" && value.length <= keyCharactersMax) ||
  `a number, or a string of at most ${keyCharactersMax} characters`;

/** The rules for {@link CommonPoolOptions}, and for the mode. */
export const commonRules: Rules = {
  ...connectRules,
  ...moduleRules,
  mode: ["request", "durable"],
  extensions: (value) => Array.isArray(value) || "an array of extensions",
  onError: "function",
};

const requestRules: Rules = {
  ...commonRules,
  silenceMs: silenceRule,
  window: windowRules,
  limits: { callsMax: count, messageBytesMax: count, bytesMax: count },
};

const callRules: Rules = {
  signal: abortSignal,
  timeoutMs: 0,
  deadlineMs: 0,
  key: keyRule,
  priority: finite,
  window: windowRules,
  onProgress: "function",
};

const mebibyte = 2 ** 20;

/** Defaults of a remote pool. The window of values hides a round trip of 2 ms at 100,000 values a second. */
const defaults = {
  version: "0",
  extensions: [],
  silenceMs: 5_000,
  window: { items: 256, bytes: mebibyte },
  limits: { callsMax: 65_536, messageBytesMax: 64 * mebibyte, bytesMax: 512 * mebibyte },
};

/** Validates the options of a pool in `request` mode and adds the defaults. Throws `invalid-argument`. */
export function requestSettingsOf(options: RemotePoolOptions): RequestSettings & ConnectOptions {
  const given = checked(options, requestRules, defaults) as RequestSettings & RemotePoolOptions;
  checkConnect(given);
  return { ...given, onError: reporter(options, given.onError) };
}

/** The options of a remote pool in `durable` mode, validated and with defaults. */
export interface DurableSettings {
  readonly module: string;
  readonly version: string;
  readonly extensions: readonly Extension[];
  readonly onError: (error: unknown) => void;
  readonly durable: DurableCallerOptions;
}

/** Validates the options of a pool in `durable` mode and adds the defaults. Throws `invalid-argument`. */
export function durableSettingsOf(options: DurableRemotePoolOptions): DurableSettings & ConnectOptions {
  const rules = { ...commonRules, durable: anObject };
  const given = checked(options, rules, { version: "0", extensions: [], durable: {} }) as DurableSettings &
    DurableRemotePoolOptions;
  checkConnect(given);
  callerSettingsOf(given.durable);
  return { ...given, onError: reporter(options, given.onError) };
}

/** Validates the options of calls and adds the defaults. Throws `invalid-argument`. */
export function callSettingsOf(options: RemoteCallOptions, pool: { readonly window: Window }): CallSettings {
  const given = checked(options, callRules, { priority: 0, window: pool.window }) as CallSettings;
  const { signal, timeoutMs, deadlineMs, priority, onProgress } = given;
  const key = given.key === undefined ? undefined : String(given.key);
  const limited = (signal ?? timeoutMs ?? deadlineMs ?? key ?? onProgress) !== undefined;
  return { ...given, key, plain: !limited && priority === 0 };
}
