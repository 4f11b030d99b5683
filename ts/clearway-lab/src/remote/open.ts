// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens everything that remote calls of one kind need: the server, the worker processes and the caller. Node only.
import type { RemoteCaller, RemotePlace } from "./kind.js";
import { kindOf, type RemoteKindName } from "./kinds.js";
import { startWorkers } from "./processes.js";
import { startServer } from "./server.js";

export interface OpenRemote extends RemoteCaller {
  /** Rejects when a worker process ends early. Calls to it may then stay pending. */
  failed: Promise<never>;
}

/** Opens a kind with `processes` worker processes. `close` ends the caller, the processes and the server, in this order. */
export async function openRemote(name: RemoteKindName, processes: number): Promise<OpenRemote> {
  const kind = await kindOf(name);
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    const problems: unknown[] = [];
    for (const closer of closers.splice(0).reverse()) await closer().catch((problem) => problems.push(problem));
    if (problems.length > 0) throw problems[0];
  };
  try {
    const server = kind.server && (await startServer(kind.server, kind.durable));
    if (server) closers.push(() => server.close());
    const place: RemotePlace = { url: server?.url ?? "", name: "clearway-lab" };
    await kind.prepare?.(place);
    const workers = await startWorkers({ kind: name, place }, processes);
    closers.push(() => workers.close());
    const caller = await kind.open(place, workers.addresses);
    closers.push(() => caller.close());
    return { ...caller, failed: workers.failed, close };
  } catch (error) {
    // The first problem explains the others.
    await close().catch(() => {});
    throw error;
  }
}
