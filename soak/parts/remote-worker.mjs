// SPDX-License-Identifier: MIT OR Apache-2.0
// A worker process of the part `remote`: `remote-worker.mjs SERVER`. Serves the soak's tasks until its parent is gone.
import { serveTasks } from "clearway-nats/serve";
import { idempotent, serverAway } from "./remote.mjs";

const [servers] = process.argv.slice(2);
process.once("disconnect", () => process.exit(0));
await serveTasks(new URL("./soak.tasks.mjs", import.meta.url), {
  servers,
  module: "soak",
  modes: ["request", "durable"],
  idempotent,
  durable: { ackWaitMs: 2000 },
  pool: {
    size: { min: 1, max: 2, idleMs: 1000 },
    graceMs: 100,
    resourceLimits: { maxOldGenerationSizeMb: 48 },
    warnings: false,
    stderr: { write() {} },
    onError() {},
  },
  // A lost connection is a fault of the soak. It comes back.
  onError() {},
}).catch((error) => {
  if (error.code !== "connect-failed") throw error;
  process.exit(serverAway);
});
process.send("serves");
