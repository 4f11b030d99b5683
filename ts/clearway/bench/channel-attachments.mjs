// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures from which size on a list is cheaper as an attachment than inside its message. `attachmentBytesMin` in
// src/channel/endpoint/options.ts is based on the result. Sends lists by port to a worker, which sends them back. Alternates between both
// ways, and prints for each the time that the fastest tenth of the round trips did not exceed.
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { connect, portTransport } from "clearway/channel";

const ways = { encoded: 0x7fff_ffff, beside: 1 };

if (!isMainThread) {
  parentPort.on("message", async ({ port, attachmentBytesMin }) => {
    const end = await connect(portTransport(port), { codec: "standard", attachmentBytesMin });
    end.messages("echo").handle((message) => message);
  });
} else {
  const worker = new Worker(new URL(import.meta.url));
  const ends = {};
  for (const [way, attachmentBytesMin] of Object.entries(ways)) {
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ port: port2, attachmentBytesMin }, [port2]);
    ends[way] = (await connect(portTransport(port1), { codec: "standard", attachmentBytesMin })).messages("echo");
  }
  const times = new Map();
  for (let round = 0; round < 60; round++) {
    for (const size of [1024, 4096, 16_384, 65_536, 262_144, 1_048_576]) {
      for (const [way, echo] of Object.entries(ends)) {
        const bytes = new Uint8Array(size).fill(1);
        const from = performance.now();
        for (let trip = 0; trip < 20; trip++) await echo.send(bytes);
        const key = `${size} ${way}`;
        if (round > 10) times.set(key, [...(times.get(key) ?? []), ((performance.now() - from) * 1000) / 20]);
      }
    }
  }
  for (const [key, all] of times) {
    all.sort((a, b) => a - b);
    console.log(key.padStart(16), all[Math.floor(all.length / 10)].toFixed(1), "us");
  }
  await worker.terminate();
}
