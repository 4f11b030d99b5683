// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Mechanism } from "../mechanism/measured.js";

/** Mechanisms of one scenario by name, loaded when asked for; in place of one that cannot run here, why, and what to do. */
export type Loader = () => Promise<Record<string, Mechanism | { unavailable: string }>>;

/** The same names, each with the reason, when there is one. */
export async function unless(
  problem: string | undefined,
  load: () => Promise<Record<string, Mechanism>>,
): ReturnType<Loader> {
  const mechanisms = await load();
  if (problem === undefined) return mechanisms;
  return Object.fromEntries(Object.keys(mechanisms).map((name) => [name, { unavailable: problem }]));
}
