// SPDX-License-Identifier: MIT OR Apache-2.0
// In Node, the server is a separate file. Loading and compiling it takes 0.4 ms, which a worker's start would need in addition. A first
// call does not need the server, and a file loads fast. See spec/decisions/rarely-needed-code-loads-later.md.
import { LazyModule } from "../lazy-modules.js";

/** The server of calls. Loaded after the first call, or earlier if the first call needs it. */
export const serving: LazyModule<typeof import("../server.js")> = new LazyModule(
  "the code that serves calls",
  async () => import("../server.js"),
);
