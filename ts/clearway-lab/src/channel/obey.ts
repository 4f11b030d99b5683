// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the worker's side of a channel measurement.
import { parent, portEnd } from "#lab-host";
import type { PortKind } from "./caller.js";
import { drive } from "./drive.js";
import type { Answer, Order } from "./worker.js";

/** Waits for the order of the main thread. Then echoes calls, or makes and measures them. */
export function obey(kind: PortKind): void {
  const main = parent();
  const tell = (answer: Answer) => main.post(answer);
  main.listen((message) => {
    const { role, row, port } = message as Order;
    const end = portEnd(port);
    const work = async (): Promise<Answer> => {
      if (role === "serve") {
        await kind.serve(end, row);
        return "ready";
      }
      const caller = await kind.open(end, row);
      const figures = await drive(caller, row);
      await caller.close();
      return figures;
    };
    work().then(tell, (error: Error) => tell({ failed: error.message }));
  });
}
