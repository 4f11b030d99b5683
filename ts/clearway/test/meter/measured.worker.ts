// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker that measures itself, then sends the report and the real length of its work.
import { measure } from "../../src/meter/measure.js";
import { busy, pause } from "./busy.js";

let truth = { startMs: 0, lengthMs: 0 };
const { report } = await measure(async () => {
  await pause(1);
  truth = busy(50);
  await pause(2);
});
postMessage({ report, truth });
