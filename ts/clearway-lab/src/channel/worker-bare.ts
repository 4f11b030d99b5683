// SPDX-License-Identifier: MIT OR Apache-2.0
// Hand-written channels to a worker.
import type { Mechanism } from "../protocol/measured.js";
import { cloneKind, moveKind } from "./kind-clone.js";
import { workerChannel } from "./worker.js";

export const workerBare: Record<string, Mechanism> = {
  "structured-clone": workerChannel(cloneKind, "channel-clone"),
  "port-move": workerChannel(moveKind, "channel-move"),
};
