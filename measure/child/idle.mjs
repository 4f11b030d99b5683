// SPDX-License-Identifier: MIT OR Apache-2.0
// node measure/child/idle.mjs CARRIER SETTLE_MS IDLE_MS ROUNDS: prints the processor time of a warm, idle pool in % of a core, one figure
// per round, as JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { pool } from "clearway";

const [carrier, settleMs, idleMs, rounds] = process.argv.slice(2);
const made = pool(new URL("../budget/clearway.tasks.mjs", import.meta.url), { size: 1, carrier });
for (let at = 0; at < 2000; at++) await made.call.double(at);
await sleep(Number(settleMs));
const found = [];
for (let round = 0; round < Number(rounds); round++) {
  const from = process.cpuUsage();
  const startMs = performance.now();
  await sleep(Number(idleMs));
  const { user, system } = process.cpuUsage(from);
  found.push((user + system) / 10 / (performance.now() - startMs));
}
await made.close();
process.stdout.write(JSON.stringify(found));
