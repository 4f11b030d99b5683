// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker that measures itself and sends the report.
import { measure } from "../../src/meter/measure.js";
import { busy, pause } from "./known-stalls.js";

const { report } = await measure(async () => {
  await pause(1);
  busy(50);
  await pause(2);
});
postMessage(report);
