// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";
import { clearwayKind, clearwayMoveKind, clearwayRingKind } from "./kind-clearway.js";
import { workerChannel } from "./worker.js";

export const workerClearway: Record<string, Mechanism> = {
  clearway: workerChannel(clearwayKind, "channel-clearway"),
  "clearway-move": workerChannel(clearwayMoveKind, "channel-clearway-move"),
  "clearway-ring": workerChannel(clearwayRingKind, "channel-clearway-ring"),
};
