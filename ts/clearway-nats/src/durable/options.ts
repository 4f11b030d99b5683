// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, invalid, type Rules, type Test } from "clearway/remote";

/**
 * Where a module's calls and results are stored, and for how long. The first caller or worker process of a module creates its streams with
 * these options. Existing streams keep their own.
 */
export interface DurableOptions {
  /** Where the servers store calls and results. With `memory`, a restart of the servers loses them. Default `file`. */
  storage?: "file" | "memory" | undefined;
  /** Number of servers that store each call and result: 1, 3 or 5. More than 1 needs a cluster. Default 1. */
  replicas?: number | undefined;
  /**
   * Limits of the queue. A call above them fails with `queue-full`. Default of `bytes`: a quarter of what the servers can reserve, at most 1 GiB,
   * so that claims and outcomes have room. It also limits the stored values. Default of `items`: the limit of the servers.
   */
  queue?: { items?: number | undefined; bytes?: number | undefined } | undefined;
  /** Maximum age of a call that no worker process has taken, in milliseconds. Default 7 days. */
  callAgeMs?: number | undefined;
  /** Time for which outcomes are kept, in milliseconds. Default 1 hour. */
  resultAgeMs?: number | undefined;
  /** Time for which calls that were given up are kept, in milliseconds. Default 30 days. */
  deadAgeMs?: number | undefined;
  /** Time in which a second call with the same id counts as the same call, in milliseconds. Default 2 minutes. */
  dedupMs?: number | undefined;
  /**
   * Number of partitions of keys, at most 1,024. Calls of one partition run one after the other. Default 16.
   */
  partitions?: number | undefined;
  /** Size from which arguments and results are stored as objects, in bytes. Default: half of the servers' limit for a message. */
  objectBytesMin?: number | undefined;
  /** Maximum size of the arguments or of the result of one call, in bytes. Default 256 MiB. */
  valueBytesMax?: number | undefined;
}

/** Options of a worker process for durable calls. */
export interface DurableServeOptions extends DurableOptions {
  /**
   * How often a call of an idempotent task may begin, at least 2, if its earlier runs ended without an outcome. Then it goes to the
   * dead-letter stream, and its caller's promise rejects with `dead-letter`. The first process that received the call counts as a run.
   * Default 5.
   */
  tries?: number | undefined;
  /**
   * Time after which the servers give a call to another worker process if they hear nothing of this one, in milliseconds. Worker processes
   * report three times as often. The first worker process of a module sets the time for all of them. Default 30,000.
   */
  ackWaitMs?: number | undefined;
  /** Longest time for which a request for calls waits at the servers, in milliseconds. Default 5,000. */
  pullMs?: number | undefined;
  /**
   * Beginnings of the subjects to which a caller may have its outcome published. Default `["clearway.callback."]`. This process publishes
   * there with its own permissions.
   */
  callbacks?: readonly string[] | undefined;
}

/** Options of a caller of durable calls. */
export interface DurableCallerOptions extends DurableOptions {
  /** Maximum number of calls that wait for an outcome. A further call fails with `queue-full`. Default 65,536. */
  openMax?: number | undefined;
  /**
   * Time after which a call that the servers have not confirmed is sent again, in milliseconds. At most half of `dedupMs`. Default 5,000, or a
   * quarter of `dedupMs` if that is less.
   */
  resendMs?: number | undefined;
}

const whole =
  (least: number, most: number): Test =>
  (value) =>
    (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) ||
    `a whole number from ${least} to ${most}`;

/** The rule for a number of partitions. */
export const partitionsRule: Test = whole(1, 1_024);

const subjectStart = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

const common: Rules = {
  storage: ["file", "memory"],
  replicas: [1, 3, 5],
  queue: { items: whole(1, Number.MAX_SAFE_INTEGER), bytes: whole(1, Number.MAX_SAFE_INTEGER) },
  callAgeMs: whole(1_000, 2 ** 40),
  resultAgeMs: whole(1_000, 2 ** 40),
  deadAgeMs: whole(1_000, 2 ** 40),
  dedupMs: whole(100, 2 ** 40),
  partitions: partitionsRule,
  objectBytesMin: whole(1, 2 ** 40),
  valueBytesMax: whole(1_024, 2 ** 40),
};

/** Rules for the options of a worker process. */
export const durableServeRules: Rules = {
  ...common,
  tries: whole(2, 1_000),
  ackWaitMs: whole(100, 2 ** 30),
  pullMs: whole(1_000, 2 ** 30),
  callbacks: (value) =>
    (Array.isArray(value) && value.every((each) => typeof each === "string" && subjectStart.test(each))) ||
    "an array of beginnings of subjects, without wildcards",
};

/** Rules for the options of a caller. */
export const durableCallerRules: Rules = {
  ...common,
  openMax: whole(1, 2 ** 24),
  resendMs: whole(100, 2 ** 30),
};

const day = 24 * 3_600_000;
const defaults = {
  storage: "file",
  replicas: 1,
  queue: {},
  callAgeMs: 7 * day,
  resultAgeMs: 3_600_000,
  deadAgeMs: 30 * day,
  dedupMs: 120_000,
  // Each worker process has one request for calls waiting at the servers for each partition.
  partitions: 16,
  objectBytesMin: Number.POSITIVE_INFINITY,
  valueBytesMax: 256 * 2 ** 20,
};

/** The options of the streams, with defaults. */
export interface StreamSettings extends Required<Omit<DurableOptions, "queue">> {
  queue: { items?: number; bytes?: number };
}
export interface ServeSettings extends StreamSettings, Required<Omit<DurableServeOptions, keyof DurableOptions>> {}
export interface CallerSettings extends StreamSettings, Required<Omit<DurableCallerOptions, keyof DurableOptions>> {}

/** Validates the options of a worker process and adds the defaults. Throws `invalid-argument`. */
export function serveSettingsOf(options: DurableServeOptions, path = "durable"): ServeSettings {
  const own = { tries: 5, ackWaitMs: 30_000, pullMs: 5_000, callbacks: ["clearway.callback."] };
  return checked(options, durableServeRules, { ...defaults, ...own }, path) as ServeSettings;
}

/** Validates the options of a caller and adds the defaults. Throws `invalid-argument`. */
export function callerSettingsOf(options: DurableCallerOptions, path = "durable"): CallerSettings {
  const given = checked(options, durableCallerRules, { ...defaults, openMax: 65_536 }, path) as CallerSettings;
  const { dedupMs } = given;
  const { resendMs = Math.min(5_000, dedupMs / 4) } = given;
  // The servers would take a call that is sent again later for another one.
  if (resendMs > dedupMs / 2)
    throw invalid(`${path}.resendMs`, `at most half of dedupMs, which is ${dedupMs}`, resendMs);
  return { ...given, resendMs };
}

/**
 * Returns the time after its first sending in which a call may be sent again, in milliseconds. The servers recognize a call for `dedupMs`. The
 * rest of that time is for a message that is long under way.
 */
export function resendMsMaxOf({ dedupMs }: StreamSettings): number {
  return (dedupMs * 3) / 4;
}

/** Bytes that the headers of a message take, at most. They count for the servers' limit. */
export const headersBytesMax = 1_024;

/** Returns the size from which a value is stored as an object. A message with several outcomes and headers stays below the servers' limit. */
export function objectBytesMinOf({ objectBytesMin }: StreamSettings, payloadBytesMax: number): number {
  return Math.min(objectBytesMin, Math.floor(payloadBytesMax / 2));
}

/** Limits of the messages that wait for their confirmation. 4,096 small ones hide a round trip of 40 ms at 100,000 messages a second. */
export const outstanding = { outstandingMax: 4_096, outstandingBytesMax: 2 ** 25 };
