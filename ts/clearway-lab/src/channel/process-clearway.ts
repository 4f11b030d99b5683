// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's channel over the stdin and stdout of a child process.
import { childTransport, parentTransport } from "clearway/channel/stdio";
import { clearwayCaller, clearwayEcho } from "./clearway.js";
import type { ProcessKind } from "./process.js";

export const clearwayStdioKind: ProcessKind = {
  open: (child, params) => clearwayCaller(childTransport(child), params),
  serve: (params) => clearwayEcho(parentTransport(), params),
};
