// SPDX-License-Identifier: MIT OR Apache-2.0
// The table's promises as data: a ratio of one interleaved run, and its target. The lines measure the ratios; tests read the targets too.
// `sense` says on which side of `value` a figure must be. Lines without `value` have no target.

const atLeast = (value, unit = "ratio") => ({ sense: "at least", value, unit });
const atMost = (value, unit = "ratio") => ({ sense: "at most", value, unit });

export const asked = {
  "call-over-peer": {
    what: "one trivial call after the other, warm: p50 of the best peer over Clearway's",
    ...atLeast(15),
  },
  "call-over-bare": { what: "the same: p50 of a bare postMessage over Clearway's", sense: "told", unit: "ratio" },
  "port-over-bare": { what: "the same by the port: Clearway's p50 over a bare postMessage's", ...atMost(1.15) },
  "gap-over-bare": { what: "after 2 ms of idling: Clearway's p50 over a bare postMessage's", ...atMost(1.1) },
  "flight-over-peer": { what: "1000 calls in flight: tasks a second over the best peer's", ...atLeast(10) },
  "flight-over-bare": { what: "the same over a bare postMessage's", ...atLeast(2) },
  "students-stall": {
    what: "1 M records {rollNum, name} from a worker: longest stall (not the machine's) of structured clone over that of records",
    ...atLeast(200),
  },
  "students-total": { what: "the same: total time of structured clone over that of records", ...atLeast(4) },
  "students-huge": {
    what: "100 M records from a worker as one table: longest stall (not the machine's)",
    ...atMost(8, "ms"),
  },
  "students-huge-stream": {
    what: "the same as a stream of tables of 2^20 rows, each read and released",
    ...atMost(8, "ms"),
  },
  "scan-column": { what: "sum of a column of 10 M rows over a plain loop on a typed array", ...atMost(1.3) },
  "scan-chunk-cursors": { what: "the same row by row, a cursor a chunk moved by number", ...atMost(3) },
  "scan-cursor": { what: "the same row by row, for..of over scan()", ...atMost(3) },
  "auto-time": { what: "placement auto, batch of 100: time over the better of inline and worker", ...atMost(1.15) },
  "auto-stall": { what: "the same: longest stall over the budget of a frame", ...atMost(1) },
  "idle-cpu": { what: "an idle pool for 10 s: CPU time", ...atMost(0.1, "%") },
  "start-over-bare": { what: "pool start to first result over a bare worker's", ...atMost(1.15) },
  "stream-copied": { what: "64 KB chunks from worker to main: bytes copied a chunk", ...atMost(0, "bytes") },
  "memset-over-c": { what: "memset of 8 MB through a plugin, warm: time over the same in C", ...atMost(1.05) },
  "memset-over-elements": {
    what: "the same: time of an FFI that converts element by element over it",
    ...atLeast(50),
  },
  "method-over-memcpy": {
    what: "copying method channel, 8 MB each way: time over two memcpy of 8 MB",
    ...atMost(2),
  },
  "megabyte-copied": {
    what: "binary message of 1 MB to native code and its reply: bytes copied",
    ...atMost(0, "bytes"),
  },
  "megabyte-over-null": { what: "the same: time over a null message's", ...atMost(1.5) },
  "null-over-bare": {
    what: "null message to native code, direct: time over a bare Node-API call with a Uint8Array",
    ...atMost(3),
  },
  "codec-over-peer": {
    what: "mixed 2 KB, encode plus decode: time of the best peer that brings it back whole, without shared records, over that of the standard codec",
    ...atLeast(1),
  },
  "codec-over-any": {
    what: "the same over a peer that brings lists back as something else",
    sense: "told",
    unit: "ratio",
  },
  "frames-copied": { what: "60 frames of 8 MB a second from native code: bytes copied", ...atMost(0, "bytes") },
  "frames-lost": { what: "the same: frames lost", ...atMost(0, "frames") },
  "frames-stall": { what: "the same: longest stall (not the machine's)", ...atMost(2, "ms") },
  "events-lost": {
    what: "events of 16 bytes from native code, as fast as there is credit: events lost",
    ...atMost(0, "events"),
  },
};

/**
 * Returns "met", "missed", or "told" for a line without a target.
 * @param {{ sense: string, value?: number }} promise
 */
export function verdict({ sense, value }, figure) {
  if (sense === "told") return "told";
  return (sense === "at least" ? figure >= value : figure <= value) ? "met" : "missed";
}
