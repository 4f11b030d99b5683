// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures 64 KB chunks from a worker to the main thread, and the copied bytes that Clearway's ledger
// counts.

/** Returns the chunks per second of every round, and the copied bytes per chunk that the ledger counted. */
export async function stream({ rounds, chunks, bytes }, host) {
  const figures = {};
  for (const mechanism of host.mechanisms(1).filter(({ role, unavailable }) => role === "clearway" && !unavailable)) {
    const { pool, stop } = await mechanism.start();
    const rates = [];
    for (let round = 0; round <= rounds; round++) {
      const begin = performance.now();
      for await (const chunk of pool.call.chunks(chunks, bytes))
        if (chunk.byteLength !== bytes) throw new Error(`short chunk: bytes=${chunk.byteLength}`);
      if (round > 0) rates.push((chunks / (performance.now() - begin)) * 1000);
    }
    const { movedBytes, copiedBytes } = pool.stats().ledger.fromWorkers;
    await stop();
    const expectedBytes = chunks * bytes * (rounds + 1);
    if (movedBytes + copiedBytes < expectedBytes)
      throw new Error(`the ledger counted too little: bytes=${movedBytes + copiedBytes} of ${expectedBytes}`);
    figures[mechanism.name] = { chunksPerSecond: rates, copiedBytesPerChunk: copiedBytes / (chunks * (rounds + 1)) };
  }
  return figures;
}
