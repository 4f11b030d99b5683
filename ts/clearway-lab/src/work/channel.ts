// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of a channel, in a worker: see channel/worker.ts. It loads only the kind that is asked for.
import { serveOrDrive } from "../channel/worker.js";

const clearway = () => import("../channel/clearway.js");

serveOrDrive({
  clearway: async () => (await clearway()).clearwayKind,
  "clearway-move": async () => (await clearway()).clearwayMoveKind,
  "clearway-ring": async () => (await clearway()).clearwayRingKind,
  clone: async () => (await import("../channel/kind-clone.js")).cloneKind,
  comlink: async () => (await import("../channel/kind-comlink.js")).comlinkKind,
});
