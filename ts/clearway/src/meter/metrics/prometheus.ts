// SPDX-License-Identifier: MIT OR Apache-2.0

import { check, wholeNumber } from "../options.js";
import type { Stall } from "../report.js";
import {
  AmountCounter,
  addTo,
  boundsS,
  causeAttribute,
  checkedLabels,
  counters,
  disposable,
  emptyTotals,
  hasFrames,
  type Instrument,
  labelText,
  type MetricsOptions,
  markAttribute,
  metricsDefaults,
  metricsRules,
  type ScopeTotals,
  type StallScope,
  stallDuration,
} from "./instruments.js";
import {
  callBoundsS,
  callDuration,
  type PoolSource,
  poolHistograms,
  poolLabels,
  poolSeries,
  poolValues,
} from "./pool-series.js";

type Described = Pick<Instrument, "name" | "description"> & { readonly unit: string };

/** Metrics as text, for the response of a `/metrics` endpoint. */
export interface Exposition {
  /** The value for the response header `content-type`. */
  readonly contentType: string;
  readonly body: string;
}

/** Writes the metrics of all scopes, in the format that the header `accept` prefers. */
function exposition(
  scopes: readonly ScopeTotals[],
  pools: ReadonlyMap<string, PoolSource>,
  frames: boolean,
  accept: string | null | undefined,
): Exposition {
  const isOpen = prefersOpenMetrics(accept ?? "");
  const lines: string[] = [];
  const stalls = familyName(stallDuration);
  header(lines, stalls, "histogram", stallDuration, isOpen);
  for (const { labels, causes } of scopes)
    for (const [cause, { count, sumS, buckets }] of causes) {
      let seen = 0;
      const below = buckets.map((each) => (seen += each));
      histogram(
        lines,
        stalls,
        joined(labels, labelText([[causeAttribute.prometheus, cause]])),
        boundsS,
        below,
        count,
        sumS,
      );
    }
  for (const [key, instrument] of Object.entries(counters)) {
    if (!frames && (key === "hitch" || key === "frames")) continue;
    const name = familyName(instrument);
    header(lines, isOpen ? name : `${name}_total`, "counter", instrument, isOpen);
    for (const { labels, counters: values, marks } of scopes) {
      if (key !== "mark") lines.push(`${name}_total${braced(labels)} ${values[key as keyof typeof values]}`);
      else
        for (const [label, timeS] of marks)
          lines.push(`${name}_total{${joined(labels, labelText([[markAttribute.prometheus, label]]))}} ${timeS}`);
    }
  }
  if (pools.size > 0) poolLines(lines, pools, isOpen);
  if (isOpen) lines.push("# EOF");
  return {
    contentType: isOpen
      ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
      : "text/plain; version=0.0.4; charset=utf-8",
    body: `${lines.join("\n")}\n`,
  };
}

// Writes one histogram. `below` has the number of values up to each bound.
function histogram(
  lines: string[],
  name: string,
  labels: string,
  bounds: readonly number[],
  below: readonly number[],
  count: number,
  sum: number,
): void {
  for (const [at, bound] of bounds.entries())
    lines.push(`${name}_bucket{${labels},le="${boundText(bound)}"} ${below[at]}`);
  lines.push(
    `${name}_bucket{${labels},le="+Inf"} ${count}`,
    `${name}_count{${labels}} ${count}`,
    `${name}_sum{${labels}} ${sum}`,
  );
}

function poolLines(lines: string[], pools: ReadonlyMap<string, PoolSource>, isOpen: boolean): void {
  // `stats()` copies a pool's counters, so it is called once.
  const counted = [...pools].map(([labels, pool]) => [labels, pool.stats()] as const);
  const values = counted.flatMap(([labels, counts]) =>
    poolValues(counts).map(([series, own, value]) => ({ series, labels: joined(labels, labelText(own)), value })),
  );
  for (const [key, series] of Object.entries(poolSeries)) {
    const family = familyName(series);
    const sample = series.kind === "counter" ? `${family}_total` : family;
    header(lines, isOpen ? family : sample, series.kind, series, isOpen);
    for (const each of values) if (each.series === key) lines.push(`${sample}${braced(each.labels)} ${each.value}`);
  }
  const name = familyName(callDuration);
  header(lines, name, "histogram", callDuration, isOpen);
  for (const [labels, counts] of counted)
    for (const [own, { count, sum, buckets }] of poolHistograms(counts))
      histogram(lines, name, joined(labels, labelText(own)), callBoundsS, buckets, count, sum / 1e6);
}

function header(lines: string[], name: string, type: string, { unit, description }: Described, isOpen: boolean): void {
  lines.push(`# HELP ${name} ${description}`, `# TYPE ${name} ${type}`);
  const word = unitWords[unit];
  if (isOpen && word) lines.push(`# UNIT ${name} ${word}`);
}

/** Prometheus's words for units. Counted things have none. */
const unitWords: Readonly<Record<string, string>> = { s: "seconds", By: "bytes" };

function familyName({ name, unit }: Described): string {
  const word = unitWords[unit];
  return name.replaceAll(".", "_") + (word ? `_${word}` : "");
}

// OpenMetrics requires a decimal point. The older format gets the same text, because a bucket's label must not change with the format.
function boundText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

const joined = (...labels: string[]): string => labels.filter((text) => text !== "").join(",");
const braced = (labels: string): string => (labels === "" ? "" : `{${labels}}`);

/** Returns whether an `accept` header names OpenMetrics 1.0.0 with a quality that is not below plain text's. */
function prefersOpenMetrics(accept: string): boolean {
  let open = 0;
  let plain = 0;
  for (const range of accept.split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const value = (name: string) =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(value("q") ?? 1) || 0;
    if (type === "application/openmetrics-text" && (value("version") ?? "1.0.0") === "1.0.0")
      open = Math.max(open, quality);
    else if (type === "text/plain") plain = Math.max(plain, quality);
  }
  return open > 0 && open >= plain;
}

/** Options of {@link stallMetrics}. */
export interface StallMetricsOptions extends MetricsOptions {
  /** The maximum number of open scopes. Default: 1000. */
  readonly scopesMax?: number | undefined;
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
   * is a snapshot; scopes may open and close while it is sent. Without the header, `accept` may be null, as `headers.get("accept")` gives it.
   */
  exposition(accept?: string | null): Exposition;
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
