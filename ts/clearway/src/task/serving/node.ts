// SPDX-License-Identifier: MIT OR Apache-2.0
// Loading and compiling the server takes 0.4 ms of a worker's start. A first call does not need it, and a file loads fast.
// spec/decisions/what-a-call-can-do-without-loads-later.md
import { Part } from "../parts.js";

/** The server of calls. Loaded after the first call, or when the first call needs it. */
export const serving: Part<typeof import("../server.js")> = new Part(
  "what serves calls",
  async () => import("../server.js"),
);
