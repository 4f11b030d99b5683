// SPDX-License-Identifier: MIT OR Apache-2.0
// Import rules as data. `make check` tests the code against them; ARCHITECTURE.md prints them (`make fmt` writes them there).

/** Folders and entries of ts/clearway/src. A folder may always import itself. Any folder must be listed here. */
export const folders = {
  error: { may: [], why: "typed errors and how they cross; everything else throws them" },
  stats: { may: [], why: "histograms and counters; pure" },
  lazy: { may: [], why: "parts that are loaded once, when first needed, with a limit of time" },
  host: { may: ["error"], why: "what Node and the browser do differently, and nothing more" },
  transfer: {
    may: ["error", "host", "lazy", "records.ts"],
    why: "what moves, what copies, and the ledger; loads the records when a table comes",
  },
  records: { may: ["error", "transfer"], why: "tables of typed rows; loaded by apps that use them" },
  transport: { may: ["error", "transfer", "host"], why: "carries envelopes between two endpoints" },
  stream: { may: ["error", "transfer", "transport"], why: "many values with credit" },
  resource: { may: ["error"], why: "leases inside a worker; side of the worker" },
  task: {
    may: ["error", "lazy", "stream", "resource", "transfer", "transport", "host"],
    why: "runs tasks; side of the worker, so it never sees the pool",
  },
  pool: {
    may: ["error", "stats", "host", "lazy", "transfer", "transport", "stream", "task", "resource", "placement"],
    why: "the caller's side: workers, queue, routing",
  },
  placement: {
    may: ["error", "host", "transfer", "task", "pool"],
    why: "decides whether a call runs inline; loaded by a pool when one asks for it",
  },
  channel: {
    may: ["error", "host", "lazy", "transfer", "stream", "transport"],
    why: "named messages between two ends, their codecs, and what carries them",
  },
  meter: { may: [], why: "stands alone: it must be able to watch an app that uses nothing else of Clearway" },
  "index.ts": {
    may: ["error", "stats", "host", "transfer", "transport", "stream", "pool", "task", "placement"],
    why: "entry `clearway`",
  },
  "worker.ts": {
    may: ["error", "host", "transfer", "transport", "stream", "resource", "task"],
    why: "entry `clearway/worker`; small, because every worker loads it at its start",
  },
  stdio: { may: ["error", "channel"], why: "channels over streams of bytes between processes; Node only" },
  websocket: { may: ["error", "channel"], why: "channels over WebSockets, the client's end; the same on every host" },
  "websocket-server": {
    may: ["error", "channel", "websocket"],
    why: "channels over WebSockets, the server's end; Node only",
  },
  "records.ts": { may: ["records", "transfer"], why: "entry `clearway/records`" },
  "channel.ts": { may: ["channel", "error", "transfer"], why: "entry `clearway/channel`" },
  "stdio.ts": { may: ["channel", "stdio"], why: "entry `clearway/channel/stdio`" },
  "websocket.ts": { may: ["channel", "websocket"], why: "entry `clearway/channel/websocket`" },
  "websocket-server.ts": { may: ["channel", "websocket-server"], why: "entry `clearway/channel/websocket-server`" },
  "meter.ts": { may: ["meter"], why: "entry `clearway/meter`" },
};

/** Imports that the build replaces by host. The files of both hosts are in one folder. */
export const aliases = { "#host": "host", "#meter-host": "meter", "#serving": "task" };

/** Optional packages that the library loads on request, and the folders that may import them. */
export const peers = { "apache-arrow": ["records"], ws: ["websocket-server"] };

/** Folders that may import `node:*`. All others use `#host`, so that one source serves Node and browsers. */
export const builtins = ["host", "meter", "stdio", "websocket-server"];

/** Other parts of the repository, by path. The first match applies. */
export const parts = [
  { part: "ts/clearway/src/", mayNot: ["clearway", "clearway-lab"], why: "no runtime dependency, and no way round" },
  { part: "ts/clearway/", mayNot: ["clearway-lab"], why: "the library does not depend on the lab" },
  { part: "ts/clearway-lab/", mayNot: [], why: "the lab uses all packages, through their public entries" },
  {
    part: "",
    mayNot: ["clearway-lab"],
    why: "everything else uses the library through its public entries, and never the lab",
  },
];
