// SPDX-License-Identifier: MIT OR Apache-2.0
// msgpackr over a port. The sender packs each message, and the receiver unpacks it.
import { Packr } from "msgpackr";
import type { PortEnd } from "../host/port.js";
import type { Mechanism } from "../protocol/measured.js";
import type { Caller, PortKind } from "./caller.js";
import { PendingCalls } from "./pending-calls.js";
import { workerChannel } from "./worker.js";

/** Minimum size of a transferred buffer, in bytes. Smaller buffers are cheaper to clone. Clearway's port transport has the same limit. */
const MOVED_BYTES_MIN = 8192;

type Packed = [id: number, value: unknown, method?: string];

function wire(end: PortEnd, receive: (message: Packed, copied: number) => void) {
  const packr = new Packr({ useRecords: false, moreTypes: true });
  end.listen((bytes) => {
    const { byteLength } = bytes as Uint8Array;
    receive(packr.unpack(bytes as Uint8Array) as Packed, byteLength);
  });
  return (message: Packed): number => {
    // `pack` returns a view of memory that msgpackr reuses. A port would clone all of that memory, so the bytes are copied first.
    const bytes = Uint8Array.prototype.slice.call(packr.pack(message));
    // Reads the length before the transfer: a transferred view has length 0.
    const { byteLength } = bytes;
    if (byteLength < MOVED_BYTES_MIN) end.post(bytes);
    else end.post(bytes, [bytes.buffer as ArrayBuffer]);
    return byteLength;
  };
}

export const msgpackrKind: PortKind = {
  open(end, params): Caller {
    const pending = new PendingCalls();
    let copied = 0;
    const send = wire(end, ([id, value], bytes) => {
      copied += bytes;
      pending.settle(id, value);
    });
    const { channel } = params;
    return {
      call: (value) =>
        pending.call((id) => {
          copied += send(channel === "method" ? [id, value, "test"] : [id, value]);
        }),
      copiedBytes: () => copied,
      close: () => end.close(),
    };
  },
  serve(end) {
    const send = wire(end, ([id, value]) => void send([id, value]));
  },
};

export const workerMsgpackr: Record<string, Mechanism> = {
  "msgpackr-port": workerChannel(msgpackrKind, "channel-msgpackr"),
};
