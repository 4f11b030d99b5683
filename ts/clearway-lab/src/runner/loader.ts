// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../protocol/measured.js";

/** Loads the mechanisms of one scenario, by name. A mechanism that cannot run here is replaced by the reason and the remedy. */
export type Loader = () => Promise<Record<string, Mechanism | { unavailable: string }>>;

/** Loads mechanisms. If there is a problem, returns the same names with the problem in place of each mechanism. */
export async function unless(
  problem: string | undefined,
  load: () => Promise<Record<string, Mechanism>>,
): ReturnType<Loader> {
  const mechanisms = await load();
  if (problem === undefined) return mechanisms;
  return Object.fromEntries(Object.keys(mechanisms).map((name) => [name, { unavailable: problem }]));
}
