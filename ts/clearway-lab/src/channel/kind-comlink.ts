// SPDX-License-Identifier: MIT OR Apache-2.0
// Comlink over a port, as in its documentation: one exposed function.
import * as Comlink from "comlink";
import { serializer } from "#lab-host";
import type { Caller, PortKind } from "./caller.js";

const echo = { test: (value: unknown): unknown => value };

export const comlinkKind: PortKind = {
  open(end): Caller {
    const remote = Comlink.wrap<typeof echo>(end.endpoint());
    let copied = 0;
    let size: number | undefined;
    return {
      call: (value) => {
        // Only the value: Comlink's envelope (an id of 50 characters, a path) is not counted.
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
