// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the worker's side of a channel measurement.
import { parent, portEnd } from "#lab-host";
import type { PortKind } from "./caller.js";
import { drive } from "./drive.js";
import type { WorkerReply, WorkerRequest } from "./worker.js";

/** Waits for the request of the main thread. Then serves (echoes calls) or drives (makes calls and measures them). */
export function serveOrDrive(kind: PortKind): void {
  const main = parent();
  const post = (reply: WorkerReply) => main.post(reply);
  main.listen((message) => {
    const { role, params, port } = message as WorkerRequest;
    const end = portEnd(port);
    const work = async (): Promise<WorkerReply> => {
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
