// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the figures of a run as OpenMetrics text, version 1.0.0. Every sample has the time of the run's start, so that Prometheus's
// `promtool tsdb create-blocks-from openmetrics` can store it.
import type { Metric, ResultCell } from "../run/results.js";
import { QUANTILE_NAMES, QUANTILES } from "../statistics/distribution.js";
import { type ExportSource, measuredCells } from "./source.js";

interface Unit {
  /** The name's suffix. Empty for a plain number. */
  suffix: string;
  /** The figure is multiplied by this number. */
  scale: number;
}

const UNITS: Record<string, Unit> = {
  us: { suffix: "seconds", scale: 1e-6 },
  ms: { suffix: "seconds", scale: 1e-3 },
  "ms/s": { suffix: "ratio", scale: 1e-3 },
  "%": { suffix: "ratio", scale: 1e-2 },
  ratio: { suffix: "ratio", scale: 1 },
  bytes: { suffix: "bytes", scale: 1 },
  "MB/s": { suffix: "bytes_per_second", scale: 1e6 },
  "ms/MB": { suffix: "seconds_per_byte", scale: 1e-9 },
  "events/s": { suffix: "events_per_second", scale: 1 },
};

interface Family {
  type: "gauge" | "summary" | "info";
  help: string;
  unit: string;
  lines: string[];
}

/**
 * Writes a run. A value is a gauge: the median of its rounds. A distribution is a summary with the quantiles that its samples support,
 * `_count` and `_sum`. Units are base units: seconds, bytes, ratios.
 */
export function openMetricsText({ results }: ExportSource): string {
  const at = (Date.parse(results.run.startedAt) / 1000).toFixed(3);
  const families = new Map<string, Family>();
  const { run, machine, build } = results;
  families.set("clearway_lab_run", {
    type: "info",
    help: "What was run, and where.",
    unit: "",
    lines: [
      sample("clearway_lab_run_info", {
        profile: run.profile,
        seed: String(run.seed),
        lab: build.lab,
        clearway: build.clearway,
        os: machine.os,
        arch: machine.arch,
        cpu: machine.cpu,
        cores: String(machine.cores),
      }) + ` 1 ${at}`,
    ],
  });
  for (const cell of measuredCells(results)) {
    for (const [name, figure] of Object.entries(cell.metrics)) addFigure(families, cell, name, figure, at);
  }
  const texts = [...families].map(([name, { type, help, unit, lines }]) =>
    [
      `# TYPE ${name} ${type}`,
      ...(unit === "" ? [] : [`# UNIT ${name} ${unit}`]),
      `# HELP ${name} ${escaped(help)}`,
      ...lines,
    ].join("\n"),
  );
  return `${texts.join("\n")}\n# EOF\n`;
}

function addFigure(families: Map<string, Family>, cell: ResultCell, metric: string, figure: Metric, at: string): void {
  const { suffix, scale } = UNITS[figure.unit] ?? { suffix: "", scale: 1 };
  const labels = labelsOf(cell);
  const isValue = "value" in figure;
  // A metric such as copiedBytes has its unit in its name already.
  const plain = snake(metric).replace(new RegExp(`_${suffix}$`), "");
  const name = ["clearway_lab", plain, ...(isValue ? ["median"] : []), ...(suffix === "" ? [] : [suffix])].join("_");
  const family = families.get(name) ?? {
    type: isValue ? "gauge" : "summary",
    help: isValue ? `Median of the rounds of ${metric}.` : `Samples of all rounds of ${metric}.`,
    unit: suffix,
    lines: [],
  };
  families.set(name, family);
  const text = (value: number) => String(Number((value * scale).toPrecision(12)));
  if (isValue) {
    family.lines.push(`${sample(name, labels)} ${text(figure.value)} ${at}`);
    return;
  }
  for (const quantile of QUANTILE_NAMES) {
    if (figure.unsupported?.includes(quantile)) continue;
    const labelled = sample(name, { ...labels, quantile: String(QUANTILES[quantile]) });
    family.lines.push(`${labelled} ${text(figure[quantile])} ${at}`);
  }
  family.lines.push(`${sample(`${name}_count`, labels)} ${figure.n} ${at}`);
  family.lines.push(`${sample(`${name}_sum`, labels)} ${text(figure.mean * figure.n)} ${at}`);
}

function labelsOf({ host, family, scenario, mechanism, params }: ResultCell): Record<string, string> {
  const own = Object.entries(params).map(([name, value]): [string, string] => [`param_${snake(name)}`, String(value)]);
  return { host, family, scenario, mechanism, ...Object.fromEntries(own) };
}

function sample(name: string, labels: Record<string, string>): string {
  const written = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return `${name}{${written.join(",")}}`;
}

/** Escapes the three characters that end or change a label's value. */
function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`));
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/[^a-z0-9_]/g, "_");
}
