// SPDX-License-Identifier: MIT OR Apache-2.0

// The names of a module's streams, subjects and buckets on the servers. All worker processes and callers of one module and version use the
// same names, so a change here separates old ones from new ones. In the names of streams and buckets, each `_` of the module is `_-`.
//
//   stream  CLEARWAY_<module>_<version>_calls     work queue
//     clearway.<module>.<version>.do.high          calls without a key, of three classes of priority
//     clearway.<module>.<version>.do.normal
//     clearway.<module>.<version>.do.low
//     clearway.<module>.<version>.do.key.<n>       calls with a key, by partition
//   stream  CLEARWAY_<module>_<version>_results   kept for a time
//     clearway.<module>.<version>.reply.<caller>   outcomes for a caller that waits, several in a message
//     clearway.<module>.<version>.result.<id>      outcome of a submitted call
//   stream  CLEARWAY_<module>_<version>_dead      kept for a time
//     clearway.<module>.<version>.dead.<id>        calls that were given up
//   subject clearway.<module>.<version>.drop       ids of calls that their caller has cancelled; not stored
//   bucket  clearway_<module>_<version>_claims     one key for each call that has begun and may run only once
//   bucket  clearway_<module>_<version>_values     arguments and results that are too large for a message

/** The classes of priority, in the order in which a worker process prefers them. */
export const priorityClasses = ["high", "normal", "low"] as const;
export type PriorityClass = (typeof priorityClasses)[number];

/** The names of a module's streams, subjects and buckets. */
export interface Names {
  readonly calls: string;
  readonly results: string;
  readonly dead: string;
  readonly claims: string;
  readonly values: string;
  readonly callSubjects: string;
  readonly replySubjects: string;
  readonly resultSubjects: string;
  readonly deadSubjects: string;
  readonly drop: string;
  /** The subject of calls without a key. */
  plain(priority: PriorityClass): string;
  /** The subject of the calls whose key is in a partition. */
  keyed(partition: number): string;
  reply(caller: string): string;
  result(id: string): string;
  deadLetter(id: string): string;
}

/**
 * Returns the names for a module. The version may contain dots and plus signs, which names of streams and buckets may not.
 *
 * A version begins with a letter or a digit, so an underscore that a hyphen follows belongs to the module: the module `images_1` in version `2`
 * has other streams than `images` in version `1.2`.
 */
export function namesOf(module: string, version: string): Names {
  const token = version.replaceAll(".", "_");
  const subject = `clearway.${module}.${token}`;
  const stream = `CLEARWAY_${module.replaceAll("_", "_-")}_${token.replaceAll("+", "__")}`;
  const bucket = `clearway${stream.slice("CLEARWAY".length)}`;
  return {
    calls: `${stream}_calls`,
    results: `${stream}_results`,
    dead: `${stream}_dead`,
    claims: `${bucket}_claims`,
    values: `${bucket}_values`,
    callSubjects: `${subject}.do.>`,
    replySubjects: `${subject}.reply.*`,
    resultSubjects: `${subject}.result.*`,
    deadSubjects: `${subject}.dead.*`,
    drop: `${subject}.drop`,
    plain: (priority) => `${subject}.do.${priority}`,
    keyed: (partition) => `${subject}.do.key.${partition}`,
    reply: (caller) => `${subject}.reply.${caller}`,
    result: (id) => `${subject}.result.${id}`,
    deadLetter: (id) => `${subject}.dead.${id}`,
  };
}

/** Returns the class of a priority as pools use it: above 0, 0, or below 0. */
export function classOf(priority: number): PriorityClass {
  return priority > 0 ? "high" : priority < 0 ? "low" : "normal";
}

/** Returns the partition of a key. Every caller must compute the same one. Hashes the key's UTF-16 code units with FNV-1a, as pools do. */
export function partitionOf(key: string | number, partitions: number): number {
  const text = String(key);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % partitions;
}

/** The name of the consumer that delivers the calls of a partition. */
export const keyConsumer = (partition: number): string => `key-${partition}`;

const idPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns whether a text may be the id of a call or of a caller. An id is a part of subjects, and the key of a bucket. */
export function isId(text: unknown): text is string {
  return typeof text === "string" && idPattern.test(text);
}

/** Returns a new name for an object of a call. Each run of a call has objects of its own, so that none is written while it is read. */
export function objectName(call: string): string {
  return `${call}.${crypto.randomUUID()}`;
}

const objectPattern = /^[A-Za-z0-9_-]{1,128}\.[0-9a-f-]{36}$/;

/** Returns whether a text is the name of an object, as {@link objectName} makes them. */
export function isObjectName(text: string): boolean {
  return objectPattern.test(text);
}
