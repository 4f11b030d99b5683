// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Measures how long a thread was blocked, and by what.
 *
 * The meter does not depend on the rest of Clearway. An app can use it alone.
 *
 * @module clearway/meter
 */

export {
  type DeviceFactor,
  type DeviceFactorOptions,
  deviceFactor,
  type ScaledMs,
  scaleMs,
  scaleReport,
} from "./meter/device.js";
export { formatPing, formatReport } from "./meter/format.js";
export { type Mark, mark } from "./meter/mark.js";
export {
  type FrameDrop,
  type FrameDrops,
  type FrameDropsOptions,
  type Measurement,
  type MeasureOptions,
  measure,
  measureFrameDrops,
} from "./meter/measure.js";
export {
  type OneWayReport,
  type PingAnswer,
  type PingOptions,
  type PingReport,
  type PingSample,
  type PingTarget,
  ping,
} from "./meter/ping.js";
export type {
  CauseShare,
  FrameReport,
  HitchReport,
  HitchVerdicts,
  MarkShare,
  ScriptShare,
  SourceState,
  StackSample,
  Stall,
  StallCause,
  StallReport,
  TailQuantile,
  WaitShare,
} from "./meter/report.js";
export { type Watch, type WatchOptions, watch } from "./meter/watch.js";
