// SPDX-License-Identifier: MIT OR Apache-2.0
// In a browser, the server is part of the entry. Loading it separately would need a request, and a worker's second call would wait for it.
import { Server } from "../server.js";

/** The server of calls. Always loaded. */
export const serving = { exports: { Server }, load: async () => ({ Server }), preload: () => {} };
