// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's channel over a port.
import { portTransport } from "clearway/channel";
import type { PortKind } from "./caller.js";
import { clearwayCaller, clearwayEcho } from "./clearway.js";

const kind = (moves: boolean): PortKind => ({
  open: (end, row) => clearwayCaller(portTransport(end.port), row, moves),
  serve: (end, row) => clearwayEcho(portTransport(end.port), row),
});

export const clearwayKind = kind(false);
export const clearwayMoveKind = kind(true);
