// SPDX-License-Identifier: MIT OR Apache-2.0
// The child process at the other end of a channel: see channel/process.ts.
import { serveParent } from "../channel/process.js";

await serveParent();
