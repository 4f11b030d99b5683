// SPDX-License-Identifier: MIT OR Apache-2.0
// The code that measures each scenario, by its name.
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

/** @type {Record<string, import("../run.ts").Row>} */
export const rows = {
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
