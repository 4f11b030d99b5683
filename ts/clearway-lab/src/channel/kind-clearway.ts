// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's channels over a port: with copied bytes, with moved bytes, or with a ring of shared memory.
import { portTransport } from "clearway/channel";
import type { PortKind } from "./caller.js";
import { clearwayCaller, clearwayEcho } from "./clearway.js";

export const clearwayKind: PortKind = {
  open: (end, row) => clearwayCaller(portTransport(end.port), row),
  serve: (end, row) => clearwayEcho(portTransport(end.port), row),
};

export const clearwayMoveKind: PortKind = {
  ...clearwayKind,
  open: (end, row) => clearwayCaller(portTransport(end.port), row, true),
};

export const clearwayRingKind: PortKind = {
  open: (end, row) => clearwayCaller(portTransport(end.port, { ring: "offer" }), row),
  serve: (end, row) => clearwayEcho(portTransport(end.port, { ring: "accept" }), row),
};
