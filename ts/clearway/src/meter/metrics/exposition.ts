// SPDX-License-Identifier: MIT OR Apache-2.0
import { boundsS, causeAttribute, counters, type Instrument, markAttribute, stallDuration } from "./instruments.js";
import { labelText } from "./labels.js";
import { callBoundsS, callDuration, type PoolSource, poolHistograms, poolSeries, poolValues } from "./pool-series.js";
import type { ScopeTotals } from "./totals.js";

type Described = Pick<Instrument, "name" | "description"> & { readonly unit: string };

/** Metrics as text, for the response of a `/metrics` endpoint. */
export interface Exposition {
  /** The value for the response header `content-type`. */
  readonly contentType: string;
  readonly body: string;
}

/** Writes the metrics of all scopes, in the format that the header `accept` prefers. */
export function exposition(
  scopes: readonly ScopeTotals[],
  pools: ReadonlyMap<string, PoolSource>,
  frames: boolean,
  accept = "",
): Exposition {
  const isOpen = prefersOpenMetrics(accept);
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
    for (const [own, { count, mean, buckets }] of poolHistograms(counts))
      histogram(lines, name, joined(labels, labelText(own)), callBoundsS, buckets, count, (count * mean) / 1e6);
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
