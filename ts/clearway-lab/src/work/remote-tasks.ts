// SPDX-License-Identifier: MIT OR Apache-2.0
// The task module that Clearway's worker processes serve.
import { expose } from "clearway/worker";

export default expose({
  same: (bytes: Uint8Array): Uint8Array => bytes,
  /** Computes a fixed amount, whatever else the machine does. Returns the last number of a linear congruential generator. */
  compute(steps: number): number {
    let value = 1;
    for (let step = 0; step < steps; step++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
    return value;
  },
});
