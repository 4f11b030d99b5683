// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures from which size on moving a frame by port is cheaper than cloning it. `movedBytesMin` in src/channel/transport/port.ts is based
// on the result. Sends frames to a worker, which sends them back. Alternates between moved and cloned frames, and prints for each the time
// that the fastest tenth of the round trips did not exceed.
import { isMainThread, parentPort, Worker } from "node:worker_threads";

if (!isMainThread) {
  parentPort.on("message", ([bytes, move]) => parentPort.postMessage([bytes, move], move ? [bytes.buffer] : []));
} else {
  const worker = new Worker(new URL(import.meta.url));
  const trip = (bytes, move) =>
    new Promise((resolve) => {
      worker.once("message", resolve);
      worker.postMessage([bytes, move], move ? [bytes.buffer] : []);
    });
  const sizes = [64, 512, 2048, 4096, 8192, 16384, 65536, 262144];
  const times = new Map();
  for (let round = 0; round < 60; round++) {
    for (const size of sizes) {
      for (const move of [false, true]) {
        const frames = Array.from({ length: 20 }, () => new Uint8Array(size).fill(1));
        const from = performance.now();
        for (const frame of frames) await trip(frame, move);
        const key = `${size} ${move ? "moved" : "cloned"}`;
        if (round > 10)
          times.set(key, [...(times.get(key) ?? []), ((performance.now() - from) * 1000) / frames.length]);
      }
    }
  }
  for (const [key, all] of times) {
    all.sort((a, b) => a - b);
    console.log(key.padStart(16), all[Math.floor(all.length / 10)].toFixed(1), "us");
  }
  await worker.terminate();
}
