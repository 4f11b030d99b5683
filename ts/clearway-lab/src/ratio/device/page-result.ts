// SPDX-License-Identifier: MIT OR Apache-2.0
// What the page sends to the lab, and the answer.
import type { DeviceSamples } from "./measure-device.js";

export interface PageResult {
  /** The number that the page was given. The lab takes one result for each. */
  readonly nonce: string;
  readonly agent: string;
  readonly cores: number;
  readonly samples: DeviceSamples;
}

export interface PageAnswer {
  /** How many times as long the page's device takes as the lab's. */
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  /** The lab's device, as text. */
  readonly here: string;
}
