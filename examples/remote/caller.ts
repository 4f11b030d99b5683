// SPDX-License-Identifier: MIT OR Apache-2.0
// #region open
import { remotePool } from "clearway-nats";

const servers = process.env["NATS_URL"] ?? "nats://127.0.0.1:4222";
const images = await remotePool<typeof import("./images.tasks.js")>({ servers, module: "images", version: "1.2.0" });
// #endregion open

try {
  // #region call
  const pixels = new Uint8Array([10, 20, 30, 40]);
  console.log(await images.call.brightness(pixels)); // 25
  // #endregion call

  // #region options
  const urgent = images.with({
    deadlineMs: 60_000,
    signal: AbortSignal.timeout(60_000),
    key: "photo-17", // calls with the same key run in the same worker, one after the other
    priority: 1,
    onProgress: (value) => console.log(value), // begun
  });
  console.log(await urgent.call.resize(pixels, 2)); // Uint8Array(2) [ 10, 30 ]
  // #endregion options

  // #region streams
  let bytes = 0;
  for await (const tile of images.call.render(100)) bytes += tile.length;
  console.log(bytes); // 25600

  async function* frames() {
    for (let frame = 0; frame < 50; frame++) yield new Uint8Array(64).fill(frame);
  }
  console.log(await images.call.brightest(frames())); // 49
  // #endregion streams

  // #region errors
  const sounds = await remotePool<{ play(): void }>({ servers, module: "sounds" });
  try {
    await sounds.call.play();
  } catch (error) {
    console.log((error as { code?: string }).code); // no-worker
  } finally {
    await sounds.close();
  }
  // #endregion errors

  // #region stats
  const { workers, open, tasks } = images.stats();
  console.log(workers, open, tasks["brightness"]?.ok); // 1 0 1
  const { text } = await images.advise();
  // #endregion stats
  console.log(text.split("\n").length > 0);
} finally {
  // #region close
  await images.close(); // an open pool keeps its process alive
  // #endregion close
}
