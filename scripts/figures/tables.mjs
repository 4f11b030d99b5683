// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of docs/performance.md and of the README, as data. Each row names a promise: a figure with a target, which the run in
// lab/records/promises.json has measured.

const states = ["each thread on its own core", "the same, cores kept awake", "where the scheduler puts them"];
const stateTitles = ["own cores", "own cores, kept from sleeping", "cores chosen by the scheduler"];

/** Returns one row for each of the three states of the cores. */
const inEachState = (title, promise, of) =>
  states.map((state, at) => ({ title: `${title}, ${stateTitles[at]}`, promise, of, state }));

/** The rows of each table. `of` is Clearway's side of the comparison. */
export const tables = {
  calls: [
    ...inEachState(
      "Round trip of a trivial call: best other library's time / Clearway's",
      "call-over-peer",
      "clearway",
    ),
    ...inEachState(
      "The same without shared memory: Clearway's time / bare `postMessage`'s",
      "port-over-bare",
      "clearway port",
    ),
    ...inEachState("A call after 2 ms of rest: Clearway's time / bare `postMessage`'s", "gap-over-bare", "clearway"),
    { title: "1000 calls in flight: Clearway's calls per second / best other library's", promise: "flight-over-peer" },
    {
      title: "1000 calls in flight: Clearway's calls per second / bare `postMessage`'s with an id map",
      promise: "flight-over-bare",
    },
  ],
  records: [
    {
      title: "1 M records, 1000 different names: structured clone's longest stall / Clearway's",
      promise: "students-stall",
      over: "structured clone",
      state: "1000 names",
    },
    {
      title: "1 M records, every name different: structured clone's longest stall / Clearway's",
      promise: "students-stall",
      over: "structured clone",
      state: "every name another",
    },
    {
      title: "1 M records, 1000 different names: structured clone's total time / Clearway's",
      promise: "students-total",
      state: "1000 names",
    },
    {
      title: "1 M records, every name different: structured clone's total time / Clearway's",
      promise: "students-total",
      state: "every name another",
    },
    { title: "100 M records as one table: longest stall", promise: "students-huge" },
    { title: "100 M records as a stream of tables: longest stall", promise: "students-huge-stream" },
    { title: "Sum of a column of 10 M rows: time / a plain loop's over a typed array", promise: "scan-column" },
    { title: "The same sum row by row with one cursor per chunk", promise: "scan-chunk-cursors" },
  ],
  pool: [
    { title: "Start of a pool to its first result: time / a bare worker's", promise: "start-over-bare" },
    { title: "Processor time of an idle pool, of one core", promise: "idle-cpu", of: "clearway" },
    { title: "Processor time of an idle pool without shared memory", promise: "idle-cpu", of: "clearway port" },
    { title: "64 KB chunks from a worker: bytes copied", promise: "stream-copied", of: "clearway" },
  ],
  streams: [
    { title: "By port: values per second / bare `postMessage`'s", promise: "stream-port-over-bare" },
    { title: "By ring: values per second / bare `postMessage`'s", promise: "stream-ring-over-bare" },
    {
      title: "Read in arrays by `batches()`, by port: values per second / bare `postMessage`'s",
      promise: "stream-batches-over-bare",
      of: "clearway port, batches()",
    },
    {
      title: "Read in arrays by `batches()`, by ring: values per second / bare `postMessage`'s",
      promise: "stream-batches-over-bare",
      of: "clearway, batches()",
    },
    {
      title: "One value a millisecond, by port: median latency / bare `postMessage`'s",
      promise: "stream-latency-over-bare",
      of: "clearway port",
    },
    {
      title: "One value a millisecond, by ring: median latency / bare `postMessage`'s",
      promise: "stream-latency-over-bare",
      of: "clearway",
    },
  ],
  channels: [
    { title: "Null to a worker: time / a bare port's", promise: "channel-null-over-bare" },
    { title: "2 KB to a worker: time / a bare port's", promise: "channel-2kb-over-bare" },
    ...["worker, null", "worker, 2 KB"].map((state) => ({
      title: `${state === "worker, null" ? "Null" : "2 KB"} to a worker, three in flight: time of a message / a bare port's`,
      promise: "channel-three-over-bare",
      state: `${state}, three in flight`,
    })),
    { title: "1 MB moved to a worker: time / a bare port's", promise: "channel-moved-over-bare" },
    { title: "The same: bytes copied", promise: "channel-moved-copied" },
    { title: "Null to a child process: time / Node IPC's (`advanced`)", promise: "channel-process-null-over-ipc" },
    { title: "2 KB to a child process: time / Node IPC's", promise: "channel-process-2kb-over-ipc" },
    { title: "1 MB to a child process: time / Node IPC's", promise: "channel-process-megabyte-over-ipc" },
    {
      title: "2 KB to native code: time / the best of a hand-written addon and koffi, with msgpackr",
      promise: "channel-native-over-best",
      state: "host to native, 2 KB",
    },
    {
      title: "2 KB from native code: time / the best of the same",
      promise: "channel-native-over-best",
      state: "native to host, 2 KB",
    },
    ...["worker, null", "worker, 2 KB", "process, null", "process, 2 KB", "process, 1 MB"].map((state) => ({
      title: `Round trip, ${state}: time / the best other library's`,
      promise: "channel-over-peer",
      state,
    })),
  ],
  remote: [
    { title: "A call of 8 bytes in request mode: p50 / a bare NATS request's", promise: "remote-over-bare" },
    { title: "1000 durable calls in flight, stored in files: calls completed", promise: "remote-durable" },
    {
      title: "Calls that compute for 5 ms: a worker process for each core / one process / cores",
      promise: "remote-linear",
    },
  ],
  native: [
    {
      title: "A mixed message of 2 KB, encoded and decoded: msgpackr's time (`moreTypes`) / the standard codec's",
      promise: "codec-over-peer",
      of: "clearway, encodeInto and owned",
    },
    {
      title: "The same with a new buffer per message",
      promise: "codec-over-peer",
      of: "clearway, encode and decode",
    },
    {
      title: "The same against msgpackr's defaults, which do not keep typed arrays",
      promise: "codec-over-any",
      of: "clearway, encodeInto and owned",
    },
    {
      title: "`memset` of 8 MB by a plugin in native memory: time / the same in C",
      promise: "memset-over-c",
      of: "plugin, native memory",
    },
    {
      title: "`memset` of 8 MB by a plugin in a `SharedArrayBuffer`: time / the same in C",
      promise: "memset-over-c",
      of: "plugin, SharedArrayBuffer",
    },
    { title: "`memset` of 8 MB: an FFI that converts each element / the plugin", promise: "memset-over-elements" },
    { title: "Method channel that copies 8 MB each way: time / two `memcpy`", promise: "method-over-memcpy" },
    { title: "Null message to a plugin, direct: time / a bare Node-API call", promise: "null-over-bare" },
    {
      title: "1 MB lent to a plugin and back, direct: time / a null message's",
      promise: "megabyte-over-null",
      of: "direct, 1 MB lent",
    },
    {
      title: "1 MB lent to a plugin and back, through its pool: time / a null message's",
      promise: "megabyte-over-null",
      of: "pool, 1 MB lent",
    },
    { title: "The same: bytes copied", promise: "megabyte-copied", of: "pool, 1 MB lent" },
    { title: "60 frames of 8 MB a second for 60 s: bytes copied", promise: "frames-copied" },
    { title: "The same: frames lost", promise: "frames-lost" },
    { title: "The same: longest stall", promise: "frames-stall" },
  ],
};

/** The five rows of the README. Each shows Clearway's figure and the other one. */
export const summary = [
  {
    title: "One warm call, round trip, each thread on its own core",
    promise: "call-over-peer",
    of: "clearway",
    state: states[0],
  },
  { title: "Calls per second with 1000 in flight", promise: "flight-over-peer" },
  {
    title: "Longest stall of the main thread while 1 M records arrive",
    promise: "students-stall",
    state: "1000 names",
  },
  { title: "Pool start to first result", promise: "start-over-bare" },
  { title: "Processor time of an idle pool", promise: "idle-cpu", of: "clearway" },
];
