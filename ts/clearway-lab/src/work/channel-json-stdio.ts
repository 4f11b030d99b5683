// SPDX-License-Identifier: MIT OR Apache-2.0
// The child at the other end of a channel: see channel/process.ts.
import { servedParams } from "../channel/process.js";
import { jsonStdioKind } from "../channel/process-json.js";

await jsonStdioKind.serve(servedParams());
