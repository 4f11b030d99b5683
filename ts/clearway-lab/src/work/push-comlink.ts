// SPDX-License-Identifier: MIT OR Apache-2.0
// The same sender with Comlink. It calls the main thread's callback without waiting for the answer, because the load is an open loop.
import * as Comlink from "comlink";
import { parent } from "#lab-host";
import { emit, type Load, type PushEvent } from "../push/pace.js";

const sender = {
  async send(load: Load, sent: Int32Array, receive: (event: PushEvent) => unknown): Promise<void> {
    await emit(load, sent, (event) => void receive(event));
  },
};

export type ComlinkSender = typeof sender;

Comlink.expose(sender, parent().endpoint());
