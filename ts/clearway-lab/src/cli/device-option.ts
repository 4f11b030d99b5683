// SPDX-License-Identifier: MIT OR Apache-2.0
// `--device FILE|RATIO`: budgets in another device's time.
import { InvalidArgumentError } from "commander";
import { type DeviceTime, parseDevice } from "../ratio/device-time.js";
import { RatioError } from "../ratio/ratio-error.js";

export const DEVICE_HELP =
  "convert stalls and budgets to another device's time: a file of `clearway ratio`, or a number such as 3.1";

export function parseDeviceOption(text: string): DeviceTime {
  try {
    return parseDevice(text);
  } catch (error) {
    if (error instanceof RatioError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
