// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node trace.js FILE. Writes a trace of a function that blocks the thread. https://ui.perfetto.dev opens the file.
import { writeFileSync } from "node:fs";
import { mark, measure } from "clearway/meter";
import { stallTrace } from "clearway/meter/trace";

const file = process.argv[2] ?? "stalls.json";

// #region trace
const { report } = await measure(importFiles, { label: "import" });
writeFileSync(file, JSON.stringify(stallTrace(report)));
// #endregion trace

console.log(`${file}: ${report.stalls.length > 0 ? "a trace with stalls" : "a trace without a stall"}`);

/** Blocks the thread twice, and lets it answer in between. */
async function importFiles() {
  mark("parse", () => busyFor(80));
  await new Promise((resolve) => setTimeout(resolve, 50));
  mark("sort", () => busyFor(30));
}

/** @param {number} ms */
function busyFor(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
