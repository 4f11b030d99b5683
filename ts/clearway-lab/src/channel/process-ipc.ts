// SPDX-License-Identifier: MIT OR Apache-2.0
// Node's own channel to a child process: `child.send` with serialization "advanced", which sends structured clones through a pipe.
import { serializer } from "#lab-host";
import type { Caller } from "./caller.js";
import { PendingCalls } from "./pending-calls.js";
import type { ProcessKind } from "./process.js";

interface CallMessage {
  id: number;
  value: unknown;
  method?: string;
}

export const ipcKind: ProcessKind = {
  ipc: "advanced",
  open(child, { channel }): Caller {
    const pending = new PendingCalls();
    let copied = 0;
    let size = 0;
    child.on("message", (message) => {
      const { id, value } = message as CallMessage;
      copied += size;
      pending.settle(id, value);
    });
    return {
      call: (value) =>
        pending.call((id) => {
          const message: CallMessage = channel === "method" ? { id, method: "test", value } : { id, value };
          size ||= serializer.size(serializer.encode(message));
          copied += size;
          child.send(message);
        }),
      copiedBytes: () => copied,
      close: () => child.disconnect(),
    };
  },
  serve() {
    process.on("message", (message) => {
      const { id, value } = message as CallMessage;
      process.send?.({ id, value });
    });
  },
};
