// SPDX-License-Identifier: MIT OR Apache-2.0
// The comparisons of a run, as data.
import type { Cores } from "../protocol/arm.js";
import type { ArmHost } from "./open-arm.js";
import { type Slicing, WARM_CALLS, type WarmUp } from "./pair.js";

export interface Comparison {
  /** Its name on the command line. Comparisons of one question have a name that begins alike: `call`, `call-two-cores`. */
  name: string;
  host: ArmHost;
  /** The arms. A comparison of an arm with itself is a control: it shows the engine's own error. */
  subject: string;
  reference: string;
  work: string;
  cores: Cores;
  slicing: Slicing;
  /** Whether every slice has an arm of its own, because the work can be done only once. */
  isFresh?: boolean;
  /** What it needs beyond its host. */
  needs?: "native" | "nats" | "piscina" | "msgpackr";
  /** How it is warmed up, if not by 8,000 calls of its work: by less of a longer work, or by other work. */
  warm?: WarmUp;
  /** The subject of the answer's sentence, and the peer: "A call on one core", "a bare worker's". */
  thing: string;
  peer: string;
  /** How long a thing takes (default), or how long it blocks the thread. */
  verb?: "take" | "takes" | "block" | "blocks";
  /** The way of a user's scenario, and its input. */
  way?: string;
  input?: string;
  /** The command that measures it alone. Default: `clearway lab` with its name. */
  command?: string;
  /** What the peer is and how both are set up. */
  setUp: string;
}

const PAIRS = 4;
export const SHORT: Slicing = { ms: 9, runs: 1, blocks: 8, pairsMin: PAIRS };
/** Work whose runs are longer than a slice. */
export const LONG: Slicing = { ms: 0, runs: 1, blocks: 4, pairsMin: PAIRS };
/** A million records take a second or two, and differ by factors of a hundred. */
export const RECORDS: Slicing = { ms: 0, runs: 1, blocks: 1, pairsMin: 3 };
export const FEW_ROWS: WarmUp = { work: "few-rows", calls: 1 };

export type Arms = Pick<Comparison, "host" | "subject" | "reference" | "setUp" | "needs">;

const POOL: Arms = {
  host: "node",
  subject: "pool-clearway",
  reference: "pool-bare",
  setUp: "pool(url, { size: 1 }); the peer is one worker thread with an id map over postMessage",
};
const PUSH: Arms = {
  host: "node",
  subject: "push-clearway",
  reference: "push-bare",
  setUp: "an async generator in the worker, read with for await; the peer calls postMessage for each event",
};
const CODEC: Arms = {
  host: "node",
  subject: "codec-clearway",
  reference: "codec-msgpackr",
  needs: "msgpackr",
  setUp: "the standard codec, encodeInto an existing buffer; msgpackr with useRecords: false, moreTypes: true",
};
const LISTS: Arms = {
  host: "node",
  subject: "batch-clearway",
  reference: "batch-direct",
  setUp: "pool(url, { size: four per core }); the peer is a loop on the calling thread",
};
const WAITS: Arms = {
  host: "node",
  subject: "batch-clearway",
  reference: "batch-piscina",
  needs: "piscina",
  setUp: "pool(url, { size: four per core }); Piscina with as many threads, minThreads = maxThreads",
};

export const pool = (
  name: string,
  work: string,
  cores: Cores,
  slicing: Slicing,
  thing: string,
  calls = WARM_CALLS,
): Comparison => ({
  ...POOL,
  ...{ name, work, cores, slicing, thing, peer: "a bare worker's", warm: { work, calls } },
});

export const channel = (name: string, payload: string, cores: Cores, thing: string): Comparison => ({
  host: "node",
  subject: `channel-clearway-${payload}`,
  reference: `channel-clone-${payload}`,
  setUp: "a channel over a MessagePort to a worker; the peer is an id map over the same kind of port",
  ...{ name, work: "trip", cores, slicing: SHORT, thing, peer: "a bare port's" },
});

export const push = (name: string, slicing: Slicing, thing: string): Comparison => ({
  ...PUSH,
  ...{ name, work: name, cores: "two", slicing, thing, peer: "one by a bare postMessage" },
});

const memset = (size: string): Comparison => ({
  host: "node",
  needs: "native",
  subject: "memset-clearway",
  reference: "memset-c",
  setUp: "the example plugin in C, which gets lent memory; the peer's loop and clock are in C, compiled with -O2",
  ...{ name: `memset-${size.toLowerCase().replace(" ", "")}`, work: size, cores: "one", slicing: SHORT },
  ...{ thing: `Filling ${size} of JavaScript's memory by a native plugin`, peer: "C alone" },
});

export const records = (host: ArmHost, title: string): Comparison => ({
  ...{ name: `records-${host}`, host, subject: "students-records", reference: "students-clone" },
  setUp: "the worker returns a table of clearway/records; the peer posts an array of objects",
  ...{ work: "stall", warm: FEW_ROWS, cores: "free", slicing: RECORDS, verb: "block" },
  ...{ thing: `A million rows from a worker in ${title}`, peer: "a structured clone of them" },
});

export const sliced = (host: ArmHost, title: string): Comparison => ({
  ...records(host, title),
  ...{ name: `slices-${host}`, subject: "students-sliced" },
  setUp: "the worker returns an array of objects, which crosses in pieces; the peer posts it in one message",
  thing: `A million plain objects from a worker in ${title}`,
});

const jvm = (work: string, slicing: Slicing, thing: string, reference: string, peer: string): Comparison => ({
  ...{ name: `executor-jvm-${work}`, host: "jvm", subject: "clearway-adaptive", reference, work, cores: "free" },
  ...{ slicing, thing: `${thing} on the JVM with the adaptive executor`, verb: "take", peer },
  setUp: `AdaptiveExecutor with its defaults; the peer is ${peer}`,
});

/** The comparisons of the default run, in the order of the report. */
export const COMPARISONS: readonly Comparison[] = [
  records("node", "Node"),
  records("chromium", "Chromium"),
  sliced("node", "Node"),
  sliced("chromium", "Chromium"),
  pool("call", "call", "one", SHORT, "A call on one core"),
  pool("call-two-cores", "call", "two", SHORT, "A call on two cores"),
  pool("call-at-once", "at-once", "two", { ...SHORT, ms: 0, runs: 3 }, "One of a thousand calls at once", 30_000),
  {
    ...pool("call-after-rest", "after-rest", "two", { ...SHORT, ms: 0, runs: 5 }, "A call after 10 ms of rest"),
    warm: { work: "call", calls: WARM_CALLS },
  },
  channel("channel-null", "null", "one", "An empty message to a worker and back"),
  channel("channel-2kb", "2 KB", "two", "A message of 2 KB to a worker and back"),
  {
    ...channel("channel-1mb", "1 MB", "two", "A message of 1 MB to a worker and back"),
    warm: { work: "trip", calls: 1000 },
  },
  {
    ...push("stream", { ...SHORT, ms: 0, isPaced: true }, "An event of a stream of 1000 a second"),
    warm: { work: "firehose", calls: 30_000 },
  },
  push("firehose", { ...SHORT, ms: 0, runs: 3 }, "An event of a stream that goes as fast as it can"),
  {
    ...CODEC,
    ...{ name: "codec", work: "both", cores: "one", slicing: SHORT },
    ...{ thing: "Encoding and decoding a message of 2 KB", peer: "msgpackr" },
  },
  memset("64 KB"),
  memset("8 MB"),
  {
    ...LISTS,
    ...{ name: "executor-node-lists", work: "lists", cores: "free", slicing: SHORT, verb: "take" },
    warm: { work: "lists", calls: 200 },
    ...{ thing: "A hundred small computations in Node by a pool of workers", peer: "calling them directly" },
  },
  {
    ...WAITS,
    ...{ name: "executor-node-storage", work: "storage", cores: "free", slicing: LONG, verb: "take" },
    warm: { work: "storage", calls: 5 },
    ...{ thing: "A hundred blocking waits in Node by a pool of workers", peer: "Piscina" },
  },
  jvm("lists", SHORT, "A hundred small computations", "direct", "calling them directly"),
  {
    ...jvm("storage", LONG, "A hundred blocking waits", "fixed-100-invokeall", "a fixed pool of 100 threads"),
    // The executor learns from its first batches.
    warm: { work: "storage", calls: 20 },
  },
  { ...pool("pool-start", "start", "free", LONG, "The start of a pool with its first call"), isFresh: true },
];

/** Six pairs: with four, the interval of equal arms is nearly twice as wide, and often says nothing. */
const control = (host: ArmHost, arm: string, work: string, cores: Cores): Comparison => ({
  ...{ name: `same-${host}`, host, subject: arm, reference: arm, work, cores, slicing: { ...SHORT, pairsMin: 6 } },
  ...{ thing: "The same mechanism twice", peer: "itself", setUp: `the arm ${arm} in both places` },
});

/** Comparisons whose answers are known: a loop with more turns against the same loop. Only a run that names them measures them. */
export const SLOWED: readonly Comparison[] = [5, 10, 30].map((percent) => ({
  ...{ name: `slowed-${percent}`, host: "node", subject: `loop-${percent}`, reference: "loop-0", work: "turns" },
  ...{ cores: "one", slicing: SHORT, thing: `A loop with ${percent} % more turns`, peer: "the loop" },
  setUp: "a loop that computes; nothing of Clearway",
}));

/** The same mechanism twice, one for each host. */
export const CONTROLS: readonly Comparison[] = [
  control("node", "pool-bare", "call", "two"),
  control("chromium", "pool-bare", "call", "free"),
  control("jvm", "direct", "lists", "free"),
];

/**
 * Returns the comparisons of two builds: every mechanism of Clearway in Node, in build B against itself in build A. An arm's name begins
 * with the name of its build and a colon. What needs native code is left out: that has a build of its own.
 */
export function buildComparisons(command: string): Comparison[] {
  return COMPARISONS.filter(({ host, needs }) => host === "node" && needs !== "native").map((each) => ({
    ...each,
    ...{ subject: `B:${each.subject}`, reference: `A:${each.subject}`, peer: "before" },
    ...{ setUp: `the arm ${each.subject} of both builds`, command: `${command} ${each.name}` },
  }));
}
