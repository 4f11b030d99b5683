// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { imageMechanism } from "./fetch-image.js";
import { fetchImage } from "./image.js";

function clearway(delivery: "copy" | "move" | "fetch"): Mechanism {
  return imageMechanism(async () => {
    const workers = pool<typeof import("../work/image-tasks.js")>(workerUrl("image-tasks"), { size: 1 });
    return {
      make: async (url) => {
        if (delivery === "fetch") return workers.call.fetchAndShrink(url);
        const rgba = await fetchImage(url);
        return workers.call.shrink(delivery === "move" ? move(rgba) : rgba);
      },
      close: () => workers.close(),
    };
  });
}

export const imagesClearway: Record<string, Mechanism> = {
  "clearway-copy": clearway("copy"),
  "clearway-move": clearway("move"),
  "clearway-fetch": clearway("fetch"),
};
