// SPDX-License-Identifier: MIT OR Apache-2.0
// The page that browsers run. It has the same mechanisms. The runner for browsers calls them through one function.
import { nowMs } from "#lab-host";
import type { Measured } from "../protocol/measured.js";
import type { CellRequest } from "../protocol/message.js";
import { clockStepUs } from "../statistics/warm-up.js";
import { allMechanisms, findMechanism } from "./registry.js";

/** Runs a mechanism. Converts samples to arrays of numbers, because JSON has no typed arrays. */
async function measure(cell: CellRequest): Promise<Measured> {
  const mechanism = await findMechanism(cell.scenario, cell.mechanism);
  const fixture = { httpUrl: location.origin, echoPort: 0, idlePort: 0, feedUrl: "", filePath: "" };
  const measured = await mechanism({ params: cell.params, fixture });
  const samples: Measured["samples"] = {};
  for (const [name, { ns, ...rest }] of Object.entries(measured.samples))
    samples[name] = { ...rest, ns: Array.from(ns) };
  return { ...measured, samples };
}

async function describe() {
  // WebKitGTK has no shared memory in isolated pages, which is what the field is about.
  const hasSharedMemory = crossOriginIsolated && typeof SharedArrayBuffer !== "undefined";
  return { clockStepUs: clockStepUs(nowMs), crossOriginIsolated: hasSharedMemory, mechanisms: await allMechanisms() };
}

export interface LabPage {
  measure: typeof measure;
  describe: typeof describe;
}

(globalThis as unknown as { lab: LabPage }).lab = { measure, describe };
