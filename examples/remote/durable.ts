// SPDX-License-Identifier: MIT OR Apache-2.0
const servers = process.env["NATS_URL"] ?? "nats://127.0.0.1:4222";

// #region durable
import { remotePool } from "clearway-nats";

const images = await remotePool<typeof import("./images.tasks.js")>({
  servers,
  module: "images",
  version: "1.2.0",
  mode: "durable",
});

console.log(await images.call.brightness(new Uint8Array([10, 20]))); // 15

const id = await images.submit("resize", [new Uint8Array([1, 2, 3, 4]), 2], { id: "photo-17" });
console.log(id); // photo-17: the call runs from now on, also if this process ends
console.log(await images.result(id)); // Uint8Array(2) [ 1, 3 ]

await images.close();
// #endregion durable
