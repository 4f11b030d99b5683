// SPDX-License-Identifier: MIT OR Apache-2.0
// In a browser, loading the server is a request, and a worker's second call would wait for it. It is therefore part of the entry.
import { Server } from "../server.js";

/** The server of calls, always loaded. */
export const serving = { now: { Server }, load: async () => ({ Server }), expect: () => {} };
