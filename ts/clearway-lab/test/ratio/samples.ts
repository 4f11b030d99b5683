// SPDX-License-Identifier: MIT OR Apache-2.0
// Made-up times of devices.
import type { DeviceSamples } from "../../src/ratio/device/measure-device.js";
import { WORKS, WORKS_VERSION } from "../../src/ratio/device/works.js";
import type { Device } from "../../src/ratio/ratio-file.js";

/** Returns times of all pieces: `ms` in each round, times the piece's own factor, which is 1 without `factors`. */
export function samples(ms: readonly number[], factors: readonly number[] = []): DeviceSamples {
  return {
    worksVersion: WORKS_VERSION,
    clockStepMs: 0.1,
    repeated: 0,
    pieces: WORKS.map(({ name }, at) => ({ name, warm: true, callMs: ms.map((each) => each * (factors[at] ?? 1)) })),
  };
}

export function device(given: DeviceSamples, changes: Partial<Device> = {}): Device {
  return { host: "page", name: "Safari 18 on iPhone", agent: "agent", cores: 6, samples: given, ...changes };
}

export const HERE = device(samples([1, 1.1, 0.9, 1]), {
  host: "node",
  name: "Node 20",
  cpu: "a processor",
});
export const THERE = device(samples([2, 2.2, 1.8, 2], [1, 2, 1, 1, 1]));
