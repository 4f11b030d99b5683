// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";
import { processChannel } from "./process.js";
import { ipcKind } from "./process-ipc.js";
import { jsonStdioKind } from "./process-json.js";

/** Hand-written channels to a child process. */
export const processBare: Record<string, Mechanism> = {
  "json-stdio": processChannel(jsonStdioKind, "channel-json-stdio"),
  "node-ipc": processChannel(ipcKind, "channel-ipc"),
};
