// SPDX-License-Identifier: MIT OR Apache-2.0
// A channel between the main thread and a worker. One side measures and the other echoes, in either direction.
import { openWorker, portEnd } from "#lab-host";
import { type Mechanism, textParam } from "../protocol/measured.js";
import type { PortKind } from "./caller.js";
import { drive, type Figures, measuredOf } from "./drive.js";
import { type Row, rowOf } from "./row.js";

/** The main thread's order to a worker. It is the only message that the main thread sends on the worker's own port. */
export interface Order {
  role: "serve" | "drive";
  row: Row;
  port: MessagePort;
}

export type Answer = "ready" | Figures | { failed: string };

/** Makes the mechanism. `entry` names the worker's file, which calls `obey` with the same kind. */
export function workerChannel(kind: PortKind, entry: string): Mechanism {
  return async ({ params }) => {
    const row = rowOf(params);
    const measuring = textParam(params, "direction") === "worker to host" ? "worker" : "host";
    const worker = openWorker(entry);
    const { port1, port2 } = new MessageChannel();
    const end = portEnd(port1);
    try {
      const answered = new Promise<Answer>((resolve) => worker.listen((message) => resolve(message as Answer)));
      if (measuring === "worker") await kind.serve(end, row);
      const order: Order = { role: measuring === "worker" ? "drive" : "serve", row, port: port2 };
      worker.post(order, [port2]);
      const answer = await answered;
      if (answer !== "ready") {
        if ("failed" in answer) throw new Error(answer.failed);
        return measuredOf(answer);
      }
      const caller = await kind.open(end, row);
      const figures = await drive(caller, row);
      await caller.close();
      return measuredOf(figures);
    } finally {
      end.close();
      await worker.end();
    }
  };
}
