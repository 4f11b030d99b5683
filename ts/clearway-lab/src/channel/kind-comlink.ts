// SPDX-License-Identifier: MIT OR Apache-2.0
// Comlink over a port, used as in its documentation. One object with one function is exposed.
import * as Comlink from "comlink";
import { serializer } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller, PortKind } from "./caller.js";
import { workerChannel } from "./worker.js";

const echo = { test: (value: unknown): unknown => value };

export const comlinkKind: PortKind = {
  open(end): Caller {
    const remote = Comlink.wrap<typeof echo>(end.endpoint());
    let copied = 0;
    let size: number | undefined;
    return {
      call: (value) => {
        // Counts the value only, not Comlink's envelope (an id of 50 characters and a path).
        size ??= serializer?.size(serializer.encode(value));
        copied += 2 * (size ?? 0);
        return remote.test(value);
      },
      ...(serializer && { copiedBytes: () => copied }),
      close: () => {
        remote[Comlink.releaseProxy]();
        end.close();
      },
    };
  },
  serve(end) {
    Comlink.expose(echo, end.endpoint());
  },
};

export const workerComlink: Record<string, Mechanism> = { comlink: workerChannel(comlinkKind, "comlink") };
