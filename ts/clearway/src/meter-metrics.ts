// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Gives the stalls of `clearway/meter`, and what a pool counts, to OpenTelemetry and to Prometheus.
 *
 * The module depends on neither: it takes an OpenTelemetry meter object, and it returns text for Prometheus.
 *
 * @module clearway/meter/metrics
 */

export {
  type OpenTelemetryAttributes,
  type OpenTelemetryCounter,
  type OpenTelemetryHistogram,
  type OpenTelemetryMeter,
  type OpenTelemetryOptions,
  type OpenTelemetryScope,
  recordStalls,
} from "./meter/metrics/opentelemetry.js";
export type { MetricsOptions, StallScope } from "./meter/metrics/options.js";
export {
  type OpenTelemetryObservable,
  type OpenTelemetryPoolMeter,
  type OpenTelemetryResult,
  type PoolRecorder,
  type RecordPoolOptions,
  recordPool,
} from "./meter/metrics/pool-opentelemetry.js";
export type { PoolSource } from "./meter/metrics/pool-series.js";
export {
  type Exposition,
  type StallMetrics,
  type StallMetricsOptions,
  stallMetrics,
} from "./meter/metrics/prometheus.js";
export type { MarkShare, ScriptShare, StackSample, Stall, StallCause } from "./meter/stall.js";
