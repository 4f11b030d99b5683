// SPDX-License-Identifier: MIT OR Apache-2.0
// Every strategy of the lab's scenarios `offload`, for each of these scenarios. A strategy loads its library only when it is measured.
import type { Mechanism } from "../protocol/measured.js";
import { changingMechanism } from "./changing.js";
import { clearways } from "./clearway.js";
import { onThread } from "./on-thread.js";
import { pools } from "./pools.js";
import { sizesMechanism } from "./sizes.js";
import type { Strategy } from "./strategy.js";
import { worksMechanism } from "./works.js";

const comlink: Strategy = async () => (await import("./comlink.js")).comlinkRunning();
const strategies = { ...onThread, comlink, ...pools, ...clearways };

function each(mechanism: (strategy: Strategy) => Mechanism): Record<string, Mechanism> {
  return Object.fromEntries(Object.entries(strategies).map(([name, strategy]) => [name, mechanism(strategy)]));
}

export const works = each(worksMechanism);
export const sizes = each(sizesMechanism);
export const changing = each(changingMechanism);
