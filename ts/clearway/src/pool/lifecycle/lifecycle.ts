// SPDX-License-Identifier: MIT OR Apache-2.0
import { inDevelopment } from "../../host/host.js";
import { Timings } from "../../stats/timings.js";
import { Consumer } from "../../stream/consumer.js";
import { broadcast } from "../call/broadcast.js";
import { adviceOf, InlineCalls } from "../call/inline.js";
import { Mapping } from "../call/mapping.js";
import type { Engine } from "../engine.js";
import { announce, frame, ping, refused, rethrowWithCallerStack, unreadable } from "./messages.js";
import { admits, bringBack, changedTask, ready, sendEarly, setupFailure, unknownTask } from "./start.js";
import { cancel, exited, loadDropped, pauseOf, retireAll, uncaught } from "./stop.js";
import { watchOf } from "./watch.js";

// Gives an engine what it has only with this code.
function begin(engine: Engine): void {
  const { metrics, onError, warnings } = engine.settings;
  engine.inline = new InlineCalls(engine);
  if (metrics) engine.metrics = new Timings(onError, typeof metrics === "function" ? metrics : undefined);
  if (warnings ?? inDevelopment()) engine.watch = watchOf(engine);
}

/**
 * Everything that a pool needs only after its first worker is ready: the start and end of workers, all frames except results, and the code
 * that reads streams.
 *
 * An engine loads this code while its first worker starts. No worker can become ready without it. If the code cannot be loaded, the pool
 * fails as if no worker could be started.
 */
export const lifecycle = {
  begin,
  sendEarly,
  ready,
  setupFailure,
  admits,
  unknownTask,
  changedTask,
  announce,
  frame,
  refused,
  unreadable,
  ping,
  cancel,
  loadDropped,
  uncaught,
  exited,
  bringBack,
  retireAll,
  pauseOf,
  adviceOf,
  rethrow: rethrowWithCallerStack,
  broadcast,
  Consumer,
  Mapping,
};

/** The code that an engine loads while its first worker starts. */
export type LifecycleCode = typeof lifecycle;
