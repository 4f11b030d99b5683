// SPDX-License-Identifier: MIT OR Apache-2.0
import { part } from "../lazy/part.js";

/** What looks after workers. */
export type Lifecycle = typeof import("./lifecycle/lifecycle.js");

/** Loads what looks after workers, if nobody has. No worker counts as ready before that is there. */
export const loadLifecycle = /* @__PURE__ */ part<Lifecycle>(async () => import("./lifecycle/lifecycle.js"));

/** Loads what decides where calls run, if nobody has. Without it they go to workers. */
export const loadPlacement = /* @__PURE__ */ part(async () => import("../placement/placer.js"));
