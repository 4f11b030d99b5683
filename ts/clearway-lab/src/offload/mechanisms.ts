// SPDX-License-Identifier: MIT OR Apache-2.0
// Every strategy of the lab's scenarios `offload`, for each of these scenarios. A strategy loads its library only when it is measured.
import type { Mechanism } from "../protocol/measured.js";
import { changingMechanism } from "./changing.js";
import { clearwayStrategies } from "./clearway.js";
import { onThreadStrategies } from "./on-thread.js";
import { poolStrategies } from "./pools.js";
import { sizesMechanism } from "./sizes.js";
import type { Strategy } from "./strategy.js";
import { worksMechanism } from "./works.js";

const comlink: Strategy = async () => (await import("./comlink.js")).comlinkExecutor();
const strategies = { ...onThreadStrategies, comlink, ...poolStrategies, ...clearwayStrategies };

function byStrategy(mechanism: (strategy: Strategy) => Mechanism): Record<string, Mechanism> {
  return Object.fromEntries(Object.entries(strategies).map(([name, strategy]) => [name, mechanism(strategy)]));
}

export const works = byStrategy(worksMechanism);
export const sizes = byStrategy(sizesMechanism);
export const changing = byStrategy(changingMechanism);
