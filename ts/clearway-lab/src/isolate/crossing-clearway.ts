// SPDX-License-Identifier: MIT OR Apache-2.0
// One crossing through Clearway's pool. A result's bytes always move; an argument's bytes move if the caller says so.
import { move, pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type CrossingContent, crossingMechanism } from "./crossing.js";

function clearway(kind: CrossingContent, moves: boolean): Mechanism {
  return crossingMechanism(kind, async (bytes) => {
    const workers = pool<typeof import("../work/crossing-tasks.js")>(workerUrl("crossing-tasks"), { size: 1 });
    return {
      take: (content) => workers.call.take(moves ? move(content as Uint8Array) : content),
      give: () => workers.call.give(kind, bytes),
      close: () => workers.close(),
    };
  });
}

export const crossingsClearway: Record<string, Mechanism> = {
  "clearway-bytes-copied": clearway("bytes", false),
  "clearway-bytes-moved": clearway("bytes", true),
  "clearway-objects": clearway("objects", false),
};
