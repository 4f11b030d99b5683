// SPDX-License-Identifier: MIT OR Apache-2.0
// #region worker
import { serveTasks } from "clearway-nats/serve";

const server = await serveTasks(new URL("./images.tasks.js", import.meta.url), {
  servers: process.env["NATS_URL"] ?? "nats://127.0.0.1:4222",
  module: "images",
  version: "1.2.0",
  modes: ["request", "durable"],
  idempotent: ["resize", "brightness"],
  pool: { size: "cpu" },
});

process.once("SIGTERM", () => server.close({ timeoutMs: 25_000 }));
// #endregion worker
process.stdout.write("ready\n");
