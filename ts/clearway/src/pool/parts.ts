// SPDX-License-Identifier: MIT OR Apache-2.0
import { part } from "./part.js";

/** What looks after workers. */
export type Upkeep = typeof import("./upkeep/upkeep.js");

/** What reads streams. */
export type Streams = typeof import("../stream/consumer.js");

/** Loads what looks after workers, if nobody has. No worker counts as ready before that is there. */
export const loadUpkeep = /* @__PURE__ */ part<Upkeep>(async () => import("./upkeep/upkeep.js"));

/** Loads what reads streams, if nobody has. Nothing of a stream starts before that is there. */
export const loadStreams = /* @__PURE__ */ part<Streams>(async () => import("../stream/consumer.js"));
