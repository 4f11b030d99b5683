// SPDX-License-Identifier: MIT OR Apache-2.0
import { byHand } from "../ways/by-hand.js";
import { clearway } from "../ways/clearway.js";
import { comlink } from "../ways/comlink.js";
import { mainThread } from "../ways/main-thread.js";
import type { Way } from "../ways/way.js";

export type WayId = "main-thread" | "by-hand" | "comlink" | "clearway";

export interface NamedWay {
  id: WayId;
  name: string;
  way: Way;
  /** The files of this way in `src/ways`. */
  sources: readonly string[];
}

export const ways: readonly NamedWay[] = [
  { id: "main-thread", name: "Main thread", way: mainThread, sources: ["main-thread.ts"] },
  { id: "by-hand", name: "Plain worker", way: byHand, sources: ["by-hand.ts", "by-hand.worker.ts"] },
  { id: "comlink", name: "Comlink", way: comlink, sources: ["comlink.ts", "comlink.worker.ts"] },
  { id: "clearway", name: "Clearway", way: clearway, sources: ["clearway.ts", "clearway.tasks.ts"] },
];
