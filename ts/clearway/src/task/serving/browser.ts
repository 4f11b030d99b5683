// SPDX-License-Identifier: MIT OR Apache-2.0
// What serves calls would be a request here, for which a worker's second call would wait: it stands in the entry.
import { Server } from "../server.js";

/** What serves calls; at hand. */
export const serving = { now: { Server }, load: async () => ({ Server }), expect: () => {} };
