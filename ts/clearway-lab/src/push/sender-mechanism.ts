// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";
import { pushMechanism } from "./measure.js";
import { emit, type PushEvent } from "./pace.js";
import type { Receiver } from "./receiver.js";

export type Send = (event: PushEvent) => void;

/** Makes a mechanism from a function that opens a sender. Each run opens a new sender and closes it with `end`. */
export function senderMechanism(open: (receiver: Receiver) => { send: Send; end?: () => void }): Mechanism {
  return pushMechanism(async () => ({
    run: async (load, receiver) => {
      const { send, end } = open(receiver);
      await emit(load, receiver.sent, send);
      await receiver.done;
      end?.();
    },
    close: async () => {},
  }));
}
