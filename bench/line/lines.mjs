// SPDX-License-Identifier: MIT OR Apache-2.0
// The lines of the table, in order.
import { call } from "./call.mjs";
import { codec } from "./codec.mjs";
import { flight } from "./flight.mjs";
import { frames } from "./frames.mjs";
import { idle } from "./idle.mjs";
import { native } from "./native.mjs";
import { placement } from "./placement.mjs";
import { scan } from "./scan.mjs";
import { start } from "./start.mjs";
import { stream } from "./stream.mjs";
import { students } from "./students.mjs";
import { studentsHuge } from "./students-huge.mjs";

export const lines = {
  call,
  flight,
  students,
  "students-huge": studentsHuge,
  scan,
  placement,
  idle,
  start,
  stream,
  codec,
  native,
  frames,
};

/** Lines for Node only: pages load no native code, and the codec's peers include `v8.serialize`. */
const inNodeOnly = ["codec", "native", "frames"];

export const hasLine = (host, line) => host === "node" || !inNodeOnly.includes(line);

/** The promises of each line, so that the table still names those of a failed line. */
export const promisesOf = {
  call: ["call-over-peer", "call-over-bare", "port-over-bare", "gap-over-bare"],
  flight: ["flight-over-peer", "flight-over-bare"],
  students: ["students-stall", "students-total"],
  "students-huge": ["students-huge", "students-huge-stream"],
  scan: ["scan-column", "scan-chunk-cursors", "scan-cursor"],
  placement: ["auto-time", "auto-stall"],
  idle: ["idle-cpu"],
  start: ["start-over-bare"],
  stream: ["stream-copied"],
  codec: ["codec-over-peer", "codec-over-any"],
  native: [
    "memset-over-c",
    "memset-over-elements",
    "method-over-memcpy",
    "null-over-bare",
    "megabyte-copied",
    "megabyte-over-null",
  ],
  frames: ["frames-copied", "frames-lost", "frames-stall", "events-lost"],
};
