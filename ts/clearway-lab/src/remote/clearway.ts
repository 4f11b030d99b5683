// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's remote pool over NATS, with its two modes. Each worker process serves a pool of one thread. Node only.
import { remotePool } from "clearway-nats";
import { serveTasks } from "clearway-nats/serve";
import { workerUrl } from "#lab-host";
import type { RemoteCaller, RemoteKind, RemotePlace } from "./kind.js";

type Tasks = typeof import("../work/remote-tasks.js");

function kind(mode: "request" | "durable"): RemoteKind {
  return {
    open: (place) => (mode === "durable" ? openDurable(place) : openRequest(place)),
    async serve({ url, name }) {
      const durable = mode === "durable" ? { idempotent: ["same", "compute"] } : {};
      await serveTasks(workerUrl("remote-tasks"), {
        servers: url,
        module: name,
        modes: [mode],
        pool: { size: 1 },
        ...durable,
      });
    },
  };
}

// The two modes have different types: `durable` has no streams.
async function openRequest({ url, name }: RemotePlace): Promise<RemoteCaller> {
  const pool = await remotePool<Tasks>({ servers: url, module: name, mode: "request" });
  return {
    call: (bytes) => pool.call.same(bytes),
    compute: (steps) => pool.call.compute(steps),
    close: () => pool.close(),
  };
}

async function openDurable({ url, name }: RemotePlace): Promise<RemoteCaller> {
  const pool = await remotePool<Tasks>({ servers: url, module: name, mode: "durable" });
  return {
    call: (bytes) => pool.call.same(bytes),
    compute: (steps) => pool.call.compute(steps),
    close: () => pool.close(),
  };
}

export const clearwayRequestKind = kind("request");
export const clearwayDurableKind = kind("durable");
