// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What a pool has nothing to do with before a worker is ready: all that happens to workers and calls beside the call that
 * is made and answered, and what reads streams. A part of its own, asked for when the pool is made, so that it is there before the
 * first worker is; without it no worker counts as ready, and the pool fails as it does where no worker can be started.
 */
export { Consumer } from "../../stream/consumer.js";
export { Metrics } from "../stats.js";
export { admits, unknownTask } from "./admission.js";
export { cancel } from "./cancel.js";
export { bringBack, sendEarly } from "./early.js";
export { exited } from "./exit.js";
export { frame } from "./frames.js";
export { ping } from "./ping.js";
export { ready, type Tasks } from "./ready.js";
export { loadDropped, retireAll } from "./rest.js";
export { pauseOf } from "./restarts.js";
export { unreadable } from "./roll.js";
export { announce, refused } from "./sending.js";
export { stitch } from "./stitch.js";
export { uncaught } from "./uncaught.js";
