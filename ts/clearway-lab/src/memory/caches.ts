// SPDX-License-Identifier: MIT OR Apache-2.0
// The sizes of the processor's caches, as Linux reports them. A fill becomes slower where the buffer no longer fits one.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Value } from "../protocol/message.js";

const UNITS: Record<string, number> = { "": 1, K: 1 << 10, M: 1 << 20, G: 1 << 30 };

/** Returns the sizes of the caches for data, by names such as `l2Cache`. Returns none where the kernel does not report them. */
export function cacheSizes(folder = "/sys/devices/system/cpu/cpu0/cache"): Record<string, Value> {
  const sizes: Record<string, Value> = {};
  for (const index of indexesIn(folder)) {
    const read = (name: string) => readFileSync(path.join(folder, index, name), "utf8").trim();
    try {
      const [, digits, unit = ""] = /^(\d+)([KMG]?)$/.exec(read("size")) ?? [];
      if (digits === undefined || read("type") === "Instruction") continue;
      sizes[`l${read("level")}Cache`] = { unit: "bytes", value: Number(digits) * (UNITS[unit] ?? 1) };
    } catch {
      // A virtual machine may hide a file of a cache. The other caches are still known.
    }
  }
  return sizes;
}

function indexesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^index\d+$/.test(name));
  } catch {
    return [];
  }
}
