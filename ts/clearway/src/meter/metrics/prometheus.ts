// SPDX-License-Identifier: MIT OR Apache-2.0
import { check, wholeNumber } from "../checked.js";
import type { Stall } from "../stall.js";
import { AmountCounter } from "./amounts.js";
import { type Exposition, exposition } from "./exposition.js";
import { checkedLabels, labelText } from "./labels.js";
import {
  disposable,
  hasFrames,
  type MetricsOptions,
  metricsDefaults,
  metricsRules,
  type StallScope,
} from "./options.js";
import { type PoolSource, poolLabels } from "./pool-series.js";
import { addTo, emptyTotals, type ScopeTotals } from "./totals.js";

export type { Exposition };

/** Options of {@link stallMetrics}. */
export interface StallMetricsOptions extends MetricsOptions {
  /** The maximum number of open scopes. Default: 1000. */
  readonly scopesMax?: number;
}

/** The metrics of all scopes of a process, for a `/metrics` endpoint. */
export interface StallMetrics {
  /**
   * Adds a pool: its workers, queue, calls, errors by code and bytes, and with the pool's option `metrics` the times of its calls, in buckets.
   * The samples carry `labels`, such as `{ pool: "images" }`. Reads `stats()` for each exposition, and nothing between. Returns a function
   * that removes the pool.
   *
   * Throws as `scope` does, if another pool has these labels.
   */
  pool(pool: PoolSource, labels?: Readonly<Record<string, string>>): () => void;
  /**
   * Opens a scope whose samples carry `labels`, such as `{ thread: "main" }`. A closed scope disappears from the metrics, and its labels
   * can be used again. An empty value counts as no label, as in Prometheus.
   *
   * Throws `RangeError` for a label name that Prometheus does not allow, for the labels of an open scope, and if there are `scopesMax`
   * scopes. Throws `TypeError` for a value that is not a string.
   */
  scope(labels?: Readonly<Record<string, string>>): StallScope;
  /**
   * Returns the metrics as text: OpenMetrics if the request header `accept` prefers it, otherwise the older format of Prometheus. The text
   * is a snapshot; scopes may open and close while it is sent.
   */
  exposition(accept?: string): Exposition;
}

/**
 * Makes metrics for Prometheus. They count from the moment at which a scope opens. Counting a stall takes microseconds; no timer and no
 * thread runs.
 *
 * Throws `RangeError` or `TypeError` for an invalid option.
 */
export function stallMetrics(options: StallMetricsOptions = {}): StallMetrics {
  check(options, { ...metricsRules, scopesMax: wholeNumber(1) });
  const { hz = metricsDefaults.hz, marksMax = metricsDefaults.marksMax, scopesMax = 1000 } = options;
  const scopes = new Map<string, ScopeTotals>();
  const pools = new Map<string, PoolSource>();
  const frames = options.hz !== undefined || hasFrames();
  return {
    scope(labels = {}) {
      const text = labelText(checkedLabels(labels));
      if (scopes.has(text))
        throw new RangeError(`labels must differ from those of every open scope; close it first: labels={${text}}`);
      if (scopes.size >= scopesMax)
        throw new RangeError(`scopes must be closed when their thread ends: scopesMax=${scopesMax}`);
      const totals = emptyTotals(text);
      scopes.set(text, totals);
      const amounts = new AmountCounter(hz, marksMax);
      let open = true;
      const close = (): void => {
        if (open) scopes.delete(text);
        open = false;
      };
      const onStall = (stall: Stall): void => {
        if (open) addTo(totals, stall.cause, amounts.of(stall));
      };
      return disposable({ onStall, close }, close);
    },
    pool(pool, labels = {}) {
      const text = labelText(checkedLabels(labels, poolLabels));
      if (typeof pool?.stats !== "function") throw new TypeError(`pool must be a pool: pool=${typeof pool}`);
      if (pools.has(text)) throw new RangeError(`labels must differ from those of every pool: labels={${text}}`);
      pools.set(text, pool);
      let added = true;
      return () => {
        if (added) pools.delete(text);
        added = false;
      };
    },
    exposition: (accept) => exposition([...scopes.values()], pools, frames, accept),
  };
}
