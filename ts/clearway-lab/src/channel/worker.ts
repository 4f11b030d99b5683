// SPDX-License-Identifier: MIT OR Apache-2.0
// A channel between the main thread and a worker. One side measures and the other echoes, in either direction.
import { openWorker, parent, portEnd } from "#lab-host";
import { type Mechanism, textParam } from "../protocol/measured.js";
import type { OpenCaller, PortKind } from "./caller.js";
import { type ChannelParams, channelParamsOf } from "./caller.js";
import { drive, type Figures, measuredOf } from "./drive.js";

/** The main thread's request to a worker. It is the only message that the main thread sends on the worker's own port. */
export interface WorkerRequest {
  role: "serve" | "drive";
  /** The name of the kind, a key in work/channel.ts. */
  kind: string;
  params: ChannelParams;
  port: MessagePort;
}

export type WorkerReply = "ready" | Figures | { failed: string };

/** Starts a worker that echoes, and opens a caller in this thread. `name` is the kind's, as in `workerChannel`. */
export async function openWorkerEcho(kind: PortKind, name: string, params: ChannelParams): Promise<OpenCaller> {
  const worker = openWorker("channel");
  const { port1, port2 } = new MessageChannel();
  const end = portEnd(port1);
  const ended = async (): Promise<void> => {
    end.close();
    await worker.end();
  };
  try {
    const replied = new Promise<WorkerReply>((resolve) => worker.listen((message) => resolve(message as WorkerReply)));
    const request: WorkerRequest = { role: "serve", kind: name, params, port: port2 };
    worker.post(request, [port2]);
    const reply = await replied;
    if (reply !== "ready") throw new Error("failed" in reply ? reply.failed : "the worker measured instead of serving");
    return { caller: await kind.open(end, params), end: ended };
  } catch (error) {
    await ended();
    throw error;
  }
}

/** Makes the mechanism. `name` is the kind's name in work/channel.ts, the worker's file. */
export function workerChannel(kind: PortKind, name: string): Mechanism {
  return async (work) => {
    const params = channelParamsOf(work.params);
    const driver = textParam(work.params, "direction") === "worker to host" ? "worker" : "host";
    const worker = openWorker("channel");
    const { port1, port2 } = new MessageChannel();
    const end = portEnd(port1);
    try {
      const replied = new Promise<WorkerReply>((resolve) =>
        worker.listen((message) => resolve(message as WorkerReply)),
      );
      if (driver === "worker") await kind.serve(end, params);
      const request: WorkerRequest = { role: driver === "worker" ? "drive" : "serve", kind: name, params, port: port2 };
      worker.post(request, [port2]);
      const reply = await replied;
      if (reply !== "ready") {
        if ("failed" in reply) throw new Error(reply.failed);
        return measuredOf(reply);
      }
      const caller = await kind.open(end, params);
      const figures = await drive(caller, params);
      await caller.close();
      return measuredOf(figures);
    } finally {
      end.close();
      await worker.end();
    }
  };
}

// Runs the worker's side of a channel measurement.

/** Waits for the request of the main thread. Then serves (echoes calls) or drives (makes calls and measures them). */
export function serveOrDrive(kinds: Record<string, () => Promise<PortKind>>): void {
  const main = parent();
  const post = (reply: WorkerReply) => main.post(reply);
  main.listen((message) => {
    const { role, kind: name, params, port } = message as WorkerRequest;
    const end = portEnd(port);
    const work = async (): Promise<WorkerReply> => {
      const kind = await kinds[name]!();
      if (role === "serve") {
        await kind.serve(end, params);
        return "ready";
      }
      const caller = await kind.open(end, params);
      const figures = await drive(caller, params);
      await caller.close();
      return figures;
    };
    work().then(post, (error: Error) => post({ failed: error.message }));
  });
}
