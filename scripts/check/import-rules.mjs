// SPDX-License-Identifier: MIT OR Apache-2.0
// The import rules as data. `make check` checks the code against them. ARCHITECTURE.md prints them, and `make fmt` writes them there.

/**
 * The rules for folders and entries of ts/clearway/src. Either a folder is listed here, or all of its subfolders and files are. A listed
 * folder or file may import itself and the ones that its rule names, and nothing else. From those in `types`, it may import types only.
 * Dynamic imports count.
 * @type {Record<string, { may: string[], types?: string[], why: string }>}
 */
export const folders = {
  "globals.ts": {
    may: [],
    why: "the globals of the host as they were when the library was loaded; every folder may import it, the meter included",
  },
  error: { may: [], why: "typed errors and how they cross; everything else throws them" },
  stats: { may: [], why: "histograms and counters; pure" },
  lazy: { may: ["error", "host"], why: "modules that are loaded once, with a limit of time; timers" },
  host: { may: ["error"], why: "what differs between hosts, and how values of any host are recognised" },
  transfer: {
    may: ["error", "host", "lazy", "records.ts"],
    why: "what moves, what copies, and the ledger; loads the records when a table comes",
  },
  records: { may: ["error", "transfer"], why: "tables of typed rows; loaded by apps that use them" },
  transport: { may: ["error", "transfer", "host"], why: "carries frames between two threads" },
  stream: { may: ["error", "transfer", "transport", "host"], why: "many values with credit" },
  resource: { may: ["error"], why: "leases inside a worker; side of the worker" },
  task: {
    may: ["error", "stream", "resource", "transfer", "transport", "host", "pool/by-name.ts"],
    why: "runs tasks; side of the worker, so it never sees the pool, except for the names that no task may have",
  },
  "pool/by-name.ts": { may: [], why: "the object of functions for any task, `pool.call`" },
  "pool/worker-of-key.ts": { may: [], why: "which worker serves a key" },
  "pool/options.ts": {
    may: ["pool/worker-of-key.ts", "error", "host", "stats", "stream", "task", "transfer"],
    why: "options, their defaults and validation",
  },
  "pool/worker": {
    may: ["pool/options.ts", "error", "host", "lazy", "task", "transfer", "transport"],
    types: ["pool/call", "pool/lifecycle", "pool/engine.ts"],
    why: "one worker: its thread, its open calls, its load; the set of workers",
  },
  "pool/schedule": {
    may: ["pool/worker", "pool/options.ts", "error", "lazy", "task", "transport"],
    types: ["pool/call", "pool/engine.ts"],
    why: "the queues, and when a call goes to which worker",
  },
  "pool/call": {
    may: [
      "pool/schedule",
      "pool/worker",
      "pool/options.ts",
      "error",
      "host",
      "lazy",
      "stream",
      "task",
      "transfer",
      "transport",
    ],
    types: ["pool/lifecycle", "pool/engine.ts"],
    why: "one call: its state machine, arguments, streams, outcome; many calls: map and broadcast",
  },
  "pool/stats.ts": {
    may: ["stats", "transfer"],
    types: ["pool/engine.ts"],
    why: "counters and histograms of a pool",
  },
  "pool/lifecycle": {
    may: [
      "pool/stats.ts",
      "pool/call",
      "pool/schedule",
      "pool/worker",
      "pool/options.ts",
      "stats",
      "error",
      "host",
      "lazy",
      "stream",
      "task",
      "transfer",
      "transport",
    ],
    types: ["pool/engine.ts"],
    why: "start and end of workers, all frames but results; in browsers the root of what loads while the first worker starts",
  },
  "pool/engine.ts": {
    may: [
      "pool/lifecycle",
      "pool/stats.ts",
      "pool/call",
      "pool/schedule",
      "pool/worker",
      "pool/options.ts",
      "stats",
      "error",
      "host",
      "lazy",
      "transfer",
    ],
    why: "makes the parts of a pool, and takes each call from `submit` to its outcome",
  },
  "pool/pool.ts": {
    may: [
      "pool/by-name.ts",
      "pool/engine.ts",
      "pool/stats.ts",
      "pool/call",
      "pool/worker",
      "pool/options.ts",
      "task",
      "error",
      "host",
    ],
    why: "the typed face of a pool",
  },
  channel: {
    may: ["error", "host", "lazy", "transfer", "stream", "transport"],
    why: "named messages between two ends, their codecs, and what carries them",
  },
  meter: { may: [], why: "imports nothing else: it must be able to watch an app that uses nothing else of Clearway" },
  "index.ts": {
    may: [
      "pool/pool.ts",
      "pool/stats.ts",
      "pool/call",
      "pool/worker",
      "pool/options.ts",
      "error",
      "stats",
      "host",
      "transfer",
      "stream",
      "task",
    ],
    why: "entry `clearway`",
  },
  "worker.ts": {
    may: ["error", "host", "transfer", "transport", "stream", "resource", "task"],
    why: "entry `clearway/worker`; small, because every worker loads it at its start",
  },
  "callback.ts": {
    may: ["error", "transfer", "transport", "task", "pool/by-name.ts"],
    why: "entry `clearway/callback`: functions of the caller that a task calls; side of the caller",
  },
  "transfer.ts": {
    may: ["error", "host", "transfer"],
    why: "entry `clearway/transfer`, transfer handlers: how instances of classes cross",
  },
  stdio: { may: ["channel"], why: "the frames of channels over streams of bytes" },
  websocket: { may: ["error", "lazy", "channel"], why: "channels over WebSockets, what both ends have" },
  "websocket-server": {
    may: ["error", "channel", "websocket"],
    why: "the options of a WebSocket server, and the check of a request",
  },
  browser: {
    may: ["error", "lazy", "channel"],
    why: "channels between windows, and between the parts of an extension",
  },
  offload: {
    may: ["error", "host"],
    why: "functions that a build has moved to task files, and how a worker runs them",
  },
  "records.ts": { may: ["records", "transfer"], why: "entry `clearway/records`" },
  "records-arrow.ts": { may: ["records"], why: "entry `clearway/records/arrow`: puts `apache-arrow` into a bundle" },
  "channel.ts": { may: ["channel", "error", "transfer"], why: "entry `clearway/channel`" },
  "remote.ts": {
    may: ["channel", "error", "host", "pool/by-name.ts"],
    why: "entry `clearway/remote`: for authors of pools whose workers are elsewhere",
  },
  "offload.ts": {
    may: ["error", "host", "index.ts", "offload", "pool/options.ts", "task"],
    why: "entry `clearway/offload`: the calls, and their shared pool",
  },
  "offload-worker.ts": { may: ["offload", "task"], why: "entry `clearway/offload/worker`: the module of the workers" },
  "stdio.ts": {
    may: ["error", "lazy", "channel", "stdio"],
    why: "entry `clearway/channel/stdio`: channels between processes; Node only",
  },
  "websocket.ts": {
    may: ["error", "channel", "websocket"],
    why: "entry `clearway/channel/websocket`, the client's end; the same on every host",
  },
  "websocket-server.ts": {
    may: ["error", "lazy", "channel", "websocket", "websocket-server"],
    why: "entry `clearway/channel/websocket-server`, the server's end; Node only",
  },
  "window.ts": { may: ["browser", "channel"], why: "entry `clearway/channel/window`" },
  "shared-worker.ts": { may: ["error", "channel"], why: "entry `clearway/channel/shared-worker`, both ends" },
  "service-worker.ts": { may: ["error", "lazy", "channel"], why: "entry `clearway/channel/service-worker`, both ends" },
  "extension.ts": { may: ["browser", "channel"], why: "entry `clearway/channel/extension`" },
  start: {
    may: ["error", "host", "transfer"],
    why: "the files with which a worker starts whose module is TypeScript, or that is a child process; Node only",
  },
  "meter.ts": { may: ["meter"], why: "entry `clearway/meter`" },
  "meter-metrics.ts": { may: ["meter"], why: "entry `clearway/meter/metrics`" },
  "meter-trace.ts": { may: ["meter"], why: "entry `clearway/meter/trace`: a report as a trace" },
};

/** The file that every folder may import. */
export const everywhere = "globals.ts";

/** The imports that the build replaces with the host's own file, and the folder that has the files of both hosts. */
export const aliases = { "#host": "host", "#meter-host": "meter" };

/** Optional packages that the library loads on request, and the folders that may import them. */
export const peers = {
  "apache-arrow": ["records", "records-arrow.ts"],
  ws: ["websocket-server", "websocket-server.ts"],
};

/** Folders that may import `node:*`. All others use `#host`, so that one source serves Node and browsers. */
export const builtins = ["host", "meter", "start", "stdio", "stdio.ts", "websocket-server", "websocket-server.ts"];

/** The rules for other parts of the repository, by path. The first match applies. `uses` is a folder from which a part may import. */
export const parts = [
  { part: "ts/clearway/src/", mayNot: ["clearway", "clearway-lab"], why: "no runtime dependency, and no way round" },
  { part: "ts/clearway/", mayNot: ["clearway-lab"], why: "the library does not depend on the lab" },
  {
    part: "ts/clearway-build/src/",
    mayNot: ["clearway", "clearway-lab"],
    why: "a build plugin runs no code of the app's packages",
  },
  { part: "ts/clearway-lab/", mayNot: [], why: "the lab uses all packages, through their public entries" },
  {
    part: "conformance/flutter/",
    mayNot: ["clearway-lab"],
    uses: "ts/clearway-lab/src/flutter/",
    why: "Flutter's engine answers through the lab's program for it, and needs nothing else of the lab",
  },
  {
    part: "",
    mayNot: ["clearway-lab"],
    why: "everything else uses the library through its public entries, and never the lab",
  },
];
