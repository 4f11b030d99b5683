// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Gives the stalls of `clearway/meter`, and what a pool counts, to OpenTelemetry and to Prometheus.
 *
 * The module depends on neither: it takes an OpenTelemetry meter object, and it returns text for Prometheus.
 *
 * @module clearway/meter/metrics
 */

export type { MetricsOptions, StallScope } from "./meter/metrics/instruments.js";
export {
  type OpenTelemetryAttributes,
  type OpenTelemetryCounter,
  type OpenTelemetryHistogram,
  type OpenTelemetryMeter,
  type OpenTelemetryObservable,
  type OpenTelemetryOptions,
  type OpenTelemetryPoolMeter,
  type OpenTelemetryResult,
  type OpenTelemetryScope,
  type PoolRecorder,
  type RecordPoolOptions,
  recordPool,
  recordStalls,
} from "./meter/metrics/opentelemetry.js";
export type { PoolSource } from "./meter/metrics/pool-series.js";
export {
  type Exposition,
  type StallMetrics,
  type StallMetricsOptions,
  stallMetrics,
} from "./meter/metrics/prometheus.js";
export type { MarkShare, ScriptShare, StackSample, Stall, StallCause } from "./meter/report.js";
