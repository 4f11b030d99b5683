// SPDX-License-Identifier: MIT OR Apache-2.0
import { boundsS, causeAttribute, counters, type Instrument, markAttribute, stallDuration } from "./instruments.js";
import { labelText } from "./labels.js";
import type { ScopeTotals } from "./totals.js";

/** Metrics as text, for the response of a `/metrics` endpoint. */
export interface Exposition {
  /** The value for the response header `content-type`. */
  readonly contentType: string;
  readonly body: string;
}

/** Writes the metrics of all scopes, in the format that the header `accept` prefers. */
export function exposition(scopes: readonly ScopeTotals[], accept = ""): Exposition {
  const isOpen = prefersOpenMetrics(accept);
  const lines: string[] = [];
  const stalls = familyName(stallDuration);
  header(lines, stalls, "histogram", stallDuration, isOpen);
  for (const { labels, causes } of scopes)
    for (const [cause, { count, sumS, buckets }] of causes) {
      const own = joined(labels, labelText([[causeAttribute.prometheus, cause]]));
      let seen = 0;
      for (const [at, bound] of boundsS.entries()) {
        seen += buckets[at]!;
        lines.push(`${stalls}_bucket{${own},le="${boundText(bound)}"} ${seen}`);
      }
      lines.push(`${stalls}_bucket{${own},le="+Inf"} ${count}`);
      lines.push(`${stalls}_count{${own}} ${count}`, `${stalls}_sum{${own}} ${sumS}`);
    }
  for (const [key, instrument] of Object.entries(counters)) {
    const name = familyName(instrument);
    header(lines, isOpen ? name : `${name}_total`, "counter", instrument, isOpen);
    for (const { labels, counters: values, marks } of scopes) {
      if (key !== "mark") lines.push(`${name}_total${braced(labels)} ${values[key as keyof typeof values]}`);
      else
        for (const [label, timeS] of marks)
          lines.push(`${name}_total{${joined(labels, labelText([[markAttribute.prometheus, label]]))}} ${timeS}`);
    }
  }
  if (isOpen) lines.push("# EOF");
  return {
    contentType: isOpen
      ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
      : "text/plain; version=0.0.4; charset=utf-8",
    body: `${lines.join("\n")}\n`,
  };
}

function header(lines: string[], name: string, type: string, { unit, description }: Instrument, isOpen: boolean): void {
  lines.push(`# HELP ${name} ${description}`, `# TYPE ${name} ${type}`);
  if (isOpen && unit === "s") lines.push(`# UNIT ${name} seconds`);
}

function familyName({ name, unit }: Instrument): string {
  return name.replaceAll(".", "_") + (unit === "s" ? "_seconds" : "");
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
