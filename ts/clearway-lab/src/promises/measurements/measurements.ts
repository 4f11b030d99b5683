// SPDX-License-Identifier: MIT OR Apache-2.0
// The functions that measure the scenarios, by scenario name.
import type { ScenarioMeasurement } from "../run.js";
import { call } from "./call.js";
import { channel } from "./channel.js";
import { codec } from "./codec.js";
import { flight } from "./flight.js";
import { frames } from "./frames.js";
import { idle } from "./idle.js";
import { native } from "./native.js";
import { remote } from "./remote.js";
import { scan } from "./scan.js";
import { start } from "./start.js";
import { stream } from "./stream.js";
import { streamValues } from "./stream-values.js";
import { students } from "./students.js";
import { studentsHuge } from "./students-huge.js";

export const measurements: Readonly<Record<string, ScenarioMeasurement>> = {
  call,
  flight,
  students,
  "students-huge": studentsHuge,
  scan,
  idle,
  start,
  stream,
  "stream-values": streamValues,
  channel,
  codec,
  native,
  frames,
  remote,
};
