// SPDX-License-Identifier: MIT OR Apache-2.0
// A bare port with an id map, which sends values by structured clone.
import { serializer } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type Caller, type ChannelParams, PendingCalls, type PortKind } from "./caller.js";
import { workerChannel } from "./worker.js";

interface CallMessage {
  id: number;
  value: unknown;
  method?: string;
}

const callMessage = ({ channel }: ChannelParams, id: number, value: unknown): CallMessage =>
  channel === "method" ? { id, method: "test", value } : { id, value };

export const cloneKind: PortKind = {
  open(end, params): Caller {
    const pending = new PendingCalls();
    let copied = 0;
    // A port does not report its copies. This counts the bytes that v8.serialize writes: the port's serializer writes the same bytes.
    let size: number | undefined;
    end.listen((message) => {
      const { id, value } = message as CallMessage;
      copied += size ?? 0;
      pending.settle(id, value);
    });
    return {
      call: (value) =>
        pending.call((id) => {
          const message = callMessage(params, id, value);
          size ??= serializer?.size(serializer.encode(message));
          copied += size ?? 0;
          end.post(message);
        }),
      ...(serializer && { copiedBytes: () => copied }),
      close: () => end.close(),
    };
  },
  serve(end) {
    end.listen((message) => {
      const { id, value } = message as CallMessage;
      end.post({ id, value });
    });
  },
};

// Hand-written channels to a worker.

export const workerBare: Record<string, Mechanism> = {
  "structured-clone": workerChannel(cloneKind, "clone"),
};
