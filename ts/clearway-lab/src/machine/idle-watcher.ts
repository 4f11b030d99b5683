// SPDX-License-Identifier: MIT OR Apache-2.0
// A thread that only sleeps, and notes how much too long each sleep was. Beside a measurement it tells what the machine
// itself did: it has nothing to do, so whatever delays it delays everybody.
import { workerData } from "node:worker_threads";
import { SLEEP_MS, SLOT } from "./idle-watch.js";

const shared = new Int32Array(workerData as SharedArrayBuffer);

while (Atomics.load(shared, SLOT.stop) === 0) {
  const begin = process.hrtime.bigint();
  Atomics.wait(shared, SLOT.sleep, 0, SLEEP_MS);
  const lateUs = Number(process.hrtime.bigint() - begin) / 1000 - SLEEP_MS * 1000;
  // The lab resets the slots between measurements; a late value written into the next one is possible and rare.
  if (lateUs > Atomics.load(shared, SLOT.longestUs)) Atomics.store(shared, SLOT.longestUs, lateUs);
}
