// SPDX-License-Identifier: MIT OR Apache-2.0
// The child at the other end of a channel: see channel/process.ts.
import { servedParams } from "../channel/process.js";
import { clearwayStdioKind } from "../channel/process-clearway.js";

await clearwayStdioKind.serve(servedParams());
