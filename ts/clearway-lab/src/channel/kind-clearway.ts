// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's channels over a port: with copied bytes, with moved bytes, or with a ring of shared memory.
import { portTransport } from "clearway/channel";
import type { Mechanism } from "../protocol/measured.js";
import type { PortKind } from "./caller.js";
import { clearwayCaller, clearwayEcho } from "./clearway.js";
import { workerChannel } from "./worker.js";

export const clearwayKind: PortKind = {
  open: (end, params) => clearwayCaller(portTransport(end.port), params),
  serve: (end, params) => clearwayEcho(portTransport(end.port), params),
};

export const clearwayMoveKind: PortKind = {
  ...clearwayKind,
  open: (end, params) => clearwayCaller(portTransport(end.port), params, true),
};

export const clearwayRingKind: PortKind = {
  open: (end, params) => clearwayCaller(portTransport(end.port, { ring: "offer" }), params),
  serve: (end, params) => clearwayEcho(portTransport(end.port, { ring: "accept" }), params),
};

export const workerClearway: Record<string, Mechanism> = {
  clearway: workerChannel(clearwayKind, "clearway"),
  "clearway-move": workerChannel(clearwayMoveKind, "clearway-move"),
  "clearway-ring": workerChannel(clearwayRingKind, "clearway-ring"),
};
