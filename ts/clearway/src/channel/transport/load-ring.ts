// SPDX-License-Identifier: MIT OR Apache-2.0
import { lazyModule } from "../../lazy/lazy-module.js";

type RingModule = typeof import("./channel-ring-port.js");

// Set on first use, so that bundlers can leave the ring's code out of an app that uses codecs but no ports.
let load: (() => Promise<RingModule>) | undefined;

/** Loads the ring's code on first use. Rejects if it cannot be loaded. */
export function loadRing(): Promise<RingModule> {
  load ??= lazyModule(async () => import("./channel-ring-port.js"));
  return load();
}
