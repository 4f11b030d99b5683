// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of a channel: see channel/worker.ts.
import { msgpackrKind } from "../channel/kind-msgpackr.js";
import { serveOrDrive } from "../channel/worker.js";

serveOrDrive(msgpackrKind);
