// SPDX-License-Identifier: MIT OR Apache-2.0
// The tables of docs/performance.md and of the README, and one for docs/browsers.md, as data. Each row is a question of `clearway lab --limits`, which the kept run has answered.

/** The rows of each table: the names of the questions. */
export const tables = {
  calls: [
    ...["call", "call-two-cores", "call-chromium", "call-piscina", "call-comlink", "call-port"],
    ...[
      "call-at-once",
      "call-at-once-chromium",
      "call-at-once-piscina",
      "call-at-once-comlink",
      "call-at-once-carrier",
    ],
    ...["call-after-short-rest", "call-after-rest", "call-after-rest-chromium"],
  ],
  records: [
    ...["records-node", "records-chromium", "records-total-node", "records-total-chromium"],
    ...["slices-node", "slices-chromium", "slices-total-node", "slices-total-chromium"],
    ...["records-100m", "table-column", "table-rows"],
  ],
  pools: [
    ...["pool-start", "pool-start-chromium", "executor-node-lists", "executor-node-storage"],
    ...["executor-jvm-lists", "executor-jvm-storage"],
  ],
  streams: ["firehose", "firehose-port", "firehose-chromium", "stream", "stream-60"],
  channels: [
    ...["channel-null", "channel-2kb", "channel-1mb", "channel-null-three", "channel-2kb-three"],
    ...["process-null", "process-2kb", "process-1mb"],
  ],
  native: ["codec", "memset-64kb", "memset-8mb", "native-null", "native-2kb", "native-from", "native-1mb"],
  remote: ["remote-call", "remote-durable", "remote-two"],
};

/** The rows of the README: a question for each host. */
export const summary = [
  { title: "One call after the other", node: "call-piscina", chromium: "call-comlink" },
  { title: "One of a thousand calls at once", node: "call-at-once-piscina", chromium: "call-at-once-comlink" },
  {
    title: "Longest stall of the main thread while a million rows arrive",
    node: "records-node",
    chromium: "records-chromium",
  },
  { title: "The same rows as plain objects, in pieces", node: "slices-node", chromium: "slices-chromium" },
  { title: "Start of a pool with its first call", node: "pool-start", chromium: "pool-start-chromium" },
];

/**
 * The rows of the table `browsers`: questions that are asked in each browser. A quiet machine makes its record:
 * `clearway lab records-chromium call-chromium … firehose-webkit --time 540 --out lab/records/browsers`.
 */
export const browsers = [
  { title: "Longest stall of the main thread while a million rows arrive", question: "records" },
  { title: "One call after the other", question: "call" },
  { title: "One of a thousand calls at once", question: "call-at-once" },
  { title: "A call after 10 ms of rest", question: "call-after-rest" },
  { title: "An event of a stream that goes as fast as it can", question: "firehose" },
];
