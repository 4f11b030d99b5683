// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node phone.js RATIO. Shows the stalls of a function as a device would have them that takes RATIO times as long for the same work.
import { formatReport, measure, scaleReport } from "clearway/meter";

// `clearway ratio` measures this number.
const ratio = Number(process.argv[2] ?? "3.1");

// #region scale
const { report } = await measure(importFile, { label: "import", floorMs: 1 });
console.log(formatReport(scaleReport(report, ratio)));
// #endregion scale

/** Blocks the thread. */
function importFile() {
  const end = performance.now() + 30;
  while (performance.now() < end);
}
