// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { quantile, spread } from "./rounds.mjs";

const chunks = 2000;
const bytes = 65_536;

/** 64 KB chunks from worker to main: chunks a second, and what the ledger says of them. */
export async function stream(count) {
  const made = pool(new URL("workers/clearway.tasks.mjs", import.meta.url), { size: 1 });
  await made.ready();
  const rates = [];
  for (let round = 0; round <= count; round++) {
    const begin = performance.now();
    for await (const chunk of made.call.chunks(chunks, bytes))
      if (chunk.byteLength !== bytes) throw new Error("short chunk");
    if (round > 0) rates.push((chunks / (performance.now() - begin)) * 1000);
  }
  const { movedBytes, copiedBytes } = made.stats().ledger.fromWorkers;
  await made.close();
  if (movedBytes !== chunks * bytes * (count + 1)) throw new Error(`the ledger says ${movedBytes} bytes moved`);
  return {
    chunkBytes: bytes,
    chunksPerSecond: spread(rates),
    gibPerSecond: (quantile(rates, 0.5) * bytes) / 2 ** 30,
    copiedBytesPerChunk: copiedBytes / (chunks * (count + 1)),
  };
}
