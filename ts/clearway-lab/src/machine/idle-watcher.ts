// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread that only sleeps and records how late it woke. During a measurement, it shows delays of the machine itself: the thread does no
// other work, so its delays affect all threads.
import { workerData } from "node:worker_threads";
import { SLEEP_MS, SLOT } from "./idle-watch.js";

const shared = new Int32Array(workerData as SharedArrayBuffer);

while (Atomics.load(shared, SLOT.stop) === 0) {
  const begin = process.hrtime.bigint();
  Atomics.wait(shared, SLOT.sleep, 0, SLEEP_MS);
  const lateUs = Number(process.hrtime.bigint() - begin) / 1000 - SLEEP_MS * 1000;
  // The lab resets the slot between measurements. In rare cases, a late value counts for the next measurement.
  if (lateUs > Atomics.load(shared, SLOT.longestUs)) Atomics.store(shared, SLOT.longestUs, lateUs);
}
