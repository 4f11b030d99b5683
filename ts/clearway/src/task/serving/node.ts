// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading and compiling what serves calls takes a worker 0.4 ms of its start. A first call does without it, and a file is
// there when it is asked for. spec/decisions/what-a-call-can-do-without-loads-later.md
import { Part } from "../parts.js";

/** What serves calls: asked for behind the first, or by what that one cannot do without it. */
export const serving: Part<typeof import("../server.js")> = new Part(
  "what serves calls",
  async () => import("../server.js"),
);
