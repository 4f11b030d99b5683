// SPDX-License-Identifier: MIT OR Apache-2.0
import { part } from "./part.js";

/** What reads streams. */
export type Streams = typeof import("../stream/consumer.js");

/** Loads what reads streams, if nobody has. Nothing of a stream starts before that is there. */
export const loadStreams = part<Streams>(async () => import("../stream/consumer.js"));
