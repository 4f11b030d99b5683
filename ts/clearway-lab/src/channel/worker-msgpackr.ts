// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";
import { msgpackrKind } from "./kind-msgpackr.js";
import { workerChannel } from "./worker.js";

export const workerMsgpackr: Record<string, Mechanism> = {
  "msgpackr-port": workerChannel(msgpackrKind, "channel-msgpackr"),
};
