// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of a channel: see channel/worker.ts.
import { clearwayKind } from "../channel/kind-clearway.js";
import { serveOrDrive } from "../channel/worker.js";

serveOrDrive(clearwayKind);
