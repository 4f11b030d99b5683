// SPDX-License-Identifier: MIT OR Apache-2.0
// Automatic placement compared with always inline and always a worker. ../placement.mjs has the measurement.
import { existsSync } from "node:fs";

const file = new URL("../placement.mjs", import.meta.url);

export async function placement(bench) {
  const { host, collect } = bench;
  if (existsSync(file)) return (await import(file.href)).placement(bench);
  for (const id of ["auto-time", "auto-stall"])
    collect.unmeasured(id, host.name, { of: "placement auto" }, "this build has no automatic placement");
}
