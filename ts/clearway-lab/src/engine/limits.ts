// SPDX-License-Identifier: MIT OR Apache-2.0
// The limits of Clearway, the comparisons that only a run with limits measures, and the comparisons in Firefox and WebKit. As data.
import type { DrivenName } from "../browser/open.js";
import {
  type Arms,
  COMPARISONS,
  CONTROLS,
  type Comparison,
  channel,
  FEW_ROWS,
  LONG,
  pool,
  push,
  RECORDS,
  records,
  SHORT,
  sliced,
} from "./comparison.js";
import type { Slicing, WarmUp } from "./pair.js";

const BARE = "one worker with an id map over postMessage";

/** Comparisons of a pool in a page. A page cannot be pinned. */
const page = (name: string, work: string, slicing: Slicing, thing: string, warm: WarmUp): Comparison => ({
  ...{ name: `${name}-chromium`, host: "chromium", subject: "pool-clearway", reference: "pool-bare" },
  ...{ work, cores: "free", slicing, warm, thing: `${thing} in Chromium`, peer: "a bare worker's" },
  setUp: `pool(url, { size: 1 }); the peer is ${BARE}`,
});

/** Comparisons of a pool with another library. */
const library = (
  name: string,
  arms: Pick<Arms, "host" | "reference">,
  work: "call" | "at-once",
  peer: string,
  setUp: string,
): Comparison => ({
  ...{ name, ...arms, subject: "pool-clearway", work, cores: arms.host === "node" ? "two" : "free" },
  slicing: work === "call" ? SHORT : { ...SHORT, ms: 0, runs: 3 },
  warm: { work, calls: work === "call" ? 8000 : 30_000 },
  thing: `${work === "call" ? "A call" : "One of a thousand calls at once"} in ${arms.host === "node" ? "Node" : "Chromium"}`,
  ...{ peer, setUp: `pool(url, { size: 1 }); ${setUp}` },
});

const PISCINA = [
  { host: "node", reference: "pool-piscina", needs: "piscina" },
  "Piscina's",
  "Piscina with one thread, concurrentTasksPerWorker: 100, recordTiming: false",
] as const;
const COMLINK = [{ host: "chromium", reference: "pool-comlink" }, "Comlink's", "Comlink with one worker"] as const;

const stdio = (name: string, payload: string, thing: string): Comparison => ({
  ...{ name: `process-${name}`, host: "node", subject: `stdio-clearway-${payload}`, reference: `stdio-ipc-${payload}` },
  ...{ work: "trip", cores: "free", slicing: SHORT, thing: `${thing} to a child process and back`, peer: "Node's IPC" },
  ...(name === "1mb" && { warm: { work: "trip", calls: 300 } }),
  setUp: 'a channel over stdin and stdout; child.send with serialization: "advanced"',
});

const native = (name: string, payload: string, reference: string, thing: string, peer: string): Comparison => ({
  ...{ name: `native-${name}`, host: "node", subject: `native-clearway-${payload}`, reference, needs: "native" },
  ...{ work: "trip", cores: "one", slicing: SHORT, thing, peer },
  setUp:
    "the example plugin in C, called on the same thread; the addon is hand-written with Node-API, and packs values with msgpackr",
});

const table = (name: string, thing: string): Comparison => ({
  ...{ name: `table-${name}`, host: "node", subject: `table-${name}`, reference: "table-none", work: "sum" },
  ...{ cores: "one", slicing: SHORT, warm: { work: "sum", calls: 300 }, thing, peer: "a loop over a typed array" },
  setUp: "a table of a million rows from a worker; the peer has the same numbers as a Uint32Array",
});

const remote = (name: string, arms: Pick<Arms, "subject" | "reference">, work: string, thing: string, peer: string) =>
  ({
    ...{ name: `remote-${name}`, host: "node", ...arms, needs: "nats", work, cores: "free", thing, peer },
    slicing: work === "call" ? SHORT : { ...LONG, runs: 1 },
    warm: { work, calls: work === "call" ? 3000 : work === "compute" ? 40 : 20_000 },
    setUp: "the NATS server, the caller and the worker processes share two cores",
  }) satisfies Comparison;

const total = (stall: Comparison): Comparison => ({
  ...stall,
  ...{ name: stall.name.replace("-", "-total-"), work: "total", verb: "take" },
  thing: stall.thing.replace(" from", ", with the time to make them, from"),
});

/** Comparisons that only a run with limits measures. */
export const FURTHER: readonly Comparison[] = [
  total(records("node", "Node")),
  total(records("chromium", "Chromium")),
  total(sliced("node", "Node")),
  total(sliced("chromium", "Chromium")),
  {
    ...{ name: "records-100m", host: "node", subject: "students-parts", reference: "students-clone", verb: "block" },
    ...{ work: "stall", warm: FEW_ROWS, cores: "free", slicing: RECORDS },
    ...{ thing: "A hundred million rows as a stream of tables in Node", peer: "a structured clone of one million" },
    setUp:
      "an async generator in the worker yields tables of 2^20 rows; the reader releases each; the peer posts an array of objects",
  },
  table("column", "Summing a column of a table"),
  table("rows", "The same sum row by row"),
  {
    ...pool("call-port", "call", "two", SHORT, "A call without shared memory"),
    ...{ subject: "pool-clearway-port", setUp: `pool(url, { size: 1, carrier: "port" }); the peer is ${BARE}` },
  },
  {
    ...pool(
      "call-after-short-rest",
      "after-short-rest",
      "two",
      { ...SHORT, ms: 0, runs: 5 },
      "A call after 2 ms of rest",
    ),
    warm: { work: "call", calls: 8000 },
  },
  {
    ...pool("call-at-once-carrier", "at-once", "two", { ...SHORT, ms: 0, runs: 3 }, "One of a thousand calls at once"),
    ...{ reference: "pool-clearway-port", peer: "one of them without shared memory" },
    setUp: 'pool(url, { size: 1 }); the peer is the same with carrier: "port"',
    warm: { work: "at-once", calls: 30_000 },
  },
  library("call-piscina", PISCINA[0], "call", PISCINA[1], PISCINA[2]),
  library("call-at-once-piscina", PISCINA[0], "at-once", PISCINA[1], PISCINA[2]),
  page("call", "call", SHORT, "A call", { work: "call", calls: 8000 }),
  page("call-at-once", "at-once", { ...SHORT, ms: 0, runs: 3 }, "One of a thousand calls at once", {
    work: "at-once",
    calls: 30_000,
  }),
  page("call-after-rest", "after-rest", { ...SHORT, ms: 0, runs: 5 }, "A call after 10 ms of rest", {
    work: "call",
    calls: 8000,
  }),
  { ...page("pool-start", "start", LONG, "The start of a pool with its first call", FEW_ROWS), isFresh: true },
  library("call-comlink", COMLINK[0], "call", COMLINK[1], COMLINK[2]),
  library("call-at-once-comlink", COMLINK[0], "at-once", COMLINK[1], COMLINK[2]),
  {
    ...push("stream-60", { ...SHORT, ms: 0, isPaced: true }, "An event of a stream of 60 a second"),
    warm: { work: "firehose", calls: 30_000 },
  },
  {
    ...push("firehose", { ...SHORT, ms: 0, runs: 3 }, ""),
    ...{ name: "firehose-port", subject: "push-clearway-port" },
    thing: "An event of a stream that goes as fast as it can, without shared memory",
  },
  ...(["null", "2kb"] as const).map(
    (size): Comparison => ({
      ...channel(`channel-${size}-three`, size === "null" ? "null" : "2 KB", "two", ""),
      ...{ work: "trips-three", slicing: { ...SHORT, ms: 0, runs: 5 } },
      thing: `${size === "null" ? "An empty message" : "A message of 2 KB"} to a worker and back, with three in flight`,
    }),
  ),
  {
    ...{ name: "firehose-chromium", host: "chromium", subject: "push-clearway", reference: "push-bare" },
    ...{ work: "firehose", cores: "free", slicing: { ...SHORT, ms: 0, runs: 3 } },
    thing: "An event of a stream that goes as fast as it can in Chromium",
    ...{ peer: "one by a bare postMessage", warm: { work: "firehose", calls: 30_000 } },
    setUp: "an async generator in the worker, read with for await; the peer calls postMessage for each event",
  },
  stdio("null", "null", "An empty message"),
  stdio("2kb", "2 KB", "A message of 2 KB"),
  stdio("1mb", "1 MB", "A message of 1 MB"),
  native("null", "null", "native-addon-null", "An empty call of a plugin", "a bare Node-API call"),
  native("2kb", "2 KB", "native-addon-2 KB", "A message of 2 KB to a plugin and back", "an addon with msgpackr"),
  {
    ...native(
      "from",
      "2 KB",
      "native-addon-2 KB",
      "A message of 2 KB from a plugin and back",
      "an addon with msgpackr",
    ),
    work: "trip-from-native",
  },
  native("1mb", "1 MB", "native-clearway-null", "A call of a plugin with 1 MB of lent memory", "an empty call"),
  remote(
    "call",
    { subject: "remote-clearway", reference: "remote-nats" },
    ...(["call", "A call to a remote pool", "a bare NATS request"] as const),
  ),
  remote(
    "durable",
    { subject: "remote-clearway-durable", reference: "remote-jetstream" },
    ...(["at-once", "One of a thousand durable calls at once", "a hand-written queue on JetStream"] as const),
  ),
  remote(
    "two",
    { subject: "remote-clearway-two", reference: "remote-clearway" },
    ...(["compute", "A computing call, one of eight to two worker processes", "one of eight to one process"] as const),
  ),
];

/**
 * The largest ratio of Clearway's cost to the other's. Never slower than the bare platform by more than a tenth is the rule. A lower limit is an
 * advantage that a change must not lose, with room for another machine. A higher one is the price of what the other lacks.
 */
export const LIMITS: Readonly<Record<string, number>> = {
  "records-node": 1 / 200,
  "records-chromium": 1 / 200,
  "records-total-node": 1 / 4,
  "records-total-chromium": 1 / 4,
  "slices-total-node": 1,
  "slices-total-chromium": 1,
  "records-100m": 1 / 100,
  "table-column": 1.3,
  "table-rows": 3,
  "call-two-cores": 1 / 15,
  "call-port": 1.15,
  "call-piscina": 1 / 15,
  "call-chromium": 1,
  "call-comlink": 1,
  "call-at-once": 1.1,
  "call-at-once-piscina": 1 / 2,
  "call-at-once-chromium": 1 / 1.5,
  "call-at-once-comlink": 1 / 2,
  "call-at-once-carrier": 1.1,
  "call-after-short-rest": 1.1,
  "call-after-rest": 1.1,
  "call-after-rest-chromium": 1.1,
  "pool-start": 1.2,
  "pool-start-chromium": 1.2,
  stream: 1.1,
  "stream-60": 1.1,
  firehose: 1 / 1.5,
  "firehose-port": 1,
  "firehose-chromium": 1 / 1.5,
  "channel-null": 1.1,
  "channel-2kb": 1.1,
  "channel-null-three": 1.1,
  "channel-2kb-three": 1.1,
  "channel-1mb": 1.3,
  "process-null": 1.1,
  "process-2kb": 1.1,
  "process-1mb": 1.1,
  codec: 1,
  "memset-8mb": 1.05,
  "native-null": 3,
  "native-2kb": 1.1,
  "native-from": 1.5,
  "native-1mb": 1.5,
  "remote-call": 1.3,
  "remote-two": 1 / 1.8,
};

// Chromium's questions in the other browsers.

const TITLES: Readonly<Record<DrivenName, string>> = { firefox: "Firefox", webkit: "WebKit" };
/** What differs in the set-up of both arms. */
const SET_UP: Partial<Record<DrivenName, string>> = {
  webkit: "; WebKitGTK has no shared memory, so everything goes by port",
};

const inBrowser = (comparison: Comparison, host: DrivenName): Comparison => ({
  ...comparison,
  host,
  name: comparison.name.includes("chromium") ? comparison.name.replace("chromium", host) : `${comparison.name}-${host}`,
  thing: comparison.thing.replace("Chromium", TITLES[host]),
  setUp: `${comparison.setUp}${SET_UP[host] ?? ""}`,
});

const inOthers = (comparisons: readonly Comparison[]): Comparison[] =>
  Object.keys(TITLES).flatMap((host) =>
    comparisons.filter((each) => each.host === "chromium").map((each) => inBrowser(each, host as DrivenName)),
  );

/** Chromium's comparisons in Firefox and WebKit. Only a run that names them, or their host, measures them. */
export const IN_OTHER_BROWSERS: readonly Comparison[] = inOthers([...COMPARISONS, ...FURTHER]);

/** The same mechanism twice in each of these browsers. */
export const CONTROLS_IN_OTHER_BROWSERS: readonly Comparison[] = inOthers(CONTROLS);
