// SPDX-License-Identifier: MIT OR Apache-2.0
// A bare port with an id map. `cloneKind` sends values by structured clone; `moveKind` sends bytes by transfer.
import { serializer } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller, ChannelParams, PortKind } from "./caller.js";
import { PendingCalls } from "./pending-calls.js";
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

const bufferOf = (value: unknown) => (value as Uint8Array).buffer as ArrayBuffer;

/** Sends bytes only. Each message transfers their buffer, and each answer transfers it back. */
export const moveKind: PortKind = {
  open(end, params): Caller {
    const pending = new PendingCalls();
    end.listen((message) => {
      const { id, value } = message as CallMessage;
      pending.settle(id, value);
    });
    return {
      moves: true,
      call: (value) => pending.call((id) => end.post(callMessage(params, id, value), [bufferOf(value)])),
      // A transfer copies no bytes. It leaves the sender's buffer empty.
      copiedBytes: () => 0,
      close: () => end.close(),
    };
  },
  serve(end) {
    end.listen((message) => {
      const { id, value } = message as CallMessage;
      end.post({ id, value }, [bufferOf(value)]);
    });
  },
};

// Hand-written channels to a worker.

export const workerBare: Record<string, Mechanism> = {
  "structured-clone": workerChannel(cloneKind, "channel-clone"),
  "port-move": workerChannel(moveKind, "channel-move"),
};
