// SPDX-License-Identifier: MIT OR Apache-2.0
// What only Node has: channels to processes. The browser's twin is node-only-none.ts; the build picks one as #lab-channel-node.
export { processBare } from "./process-bare.js";
