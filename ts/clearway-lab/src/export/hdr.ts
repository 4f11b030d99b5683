// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the histograms of a run for HdrHistogram's tools: percentile distributions (.hgrm) and an interval log (.hlog).
import type { RecordedCell, RunRecord } from "../run/record.js";
import { decodeHistogram, mergeHistograms, percentileText } from "../statistics/histogram.js";
import { type Exported, type ExportedFile, exportedName, recordedCells } from "./source.js";

const NS_PER_MS = 1e6;
/** File systems allow 255 bytes for a name. The rest is for `.hgrm` and for the number of a name that exists already. */
const NAME_CHARACTERS_MAX = 240;

/** Writes one distribution for each metric with samples: the histograms of all rounds together, in milliseconds. */
export function hgrmFiles(record: RunRecord): Exported {
  const taken = new Set<string>();
  const files = histograms(record).map(({ cell, metric, hdrs }): ExportedFile => {
    const merged = mergeHistograms(hdrs.map(decodeHistogram));
    return { name: fileName(`${exportedName(cell)}.${metric}`, taken), text: percentileText(merged, NS_PER_MS) };
  });
  return { files, count: files.length, leftOut: withoutSamples(record) };
}

/**
 * Writes one interval for each round of each metric with samples, tagged with the cell and the metric. The histograms are the recorded
 * ones, in nanoseconds. The record has the length and the order of the measurements, but not their starts: an interval starts when the
 * measurements before it would have ended without a pause between them.
 */
export function hlogFile(record: RunRecord): Exported {
  const startMs = Date.parse(record.startedAt);
  const starts = startsOf(record);
  const lines = [
    "#[Histogram log format version 1.3]",
    "#[Values are nanoseconds. The starts are computed from the order and the lengths of the measurements.]",
    `#[StartTime: ${seconds(startMs)} (seconds since epoch), ${record.startedAt}]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
  ];
  const intervals = histograms(record).flatMap(({ cell, metric }) =>
    cell.rounds.flatMap(({ position, tookMs, measurement }) => {
      const set = measurement.samples[metric];
      if (set === undefined) return [];
      const max = seconds(decodeHistogram(set.hdr).maxValue / 1000);
      const tag = `${exportedName(cell)}.${metric}`.replaceAll(",", ";").replace(/\s+/g, "_");
      const atMs = startMs + starts.get(position)!;
      return [{ atMs, line: `Tag=${tag},${seconds(atMs)},${seconds(tookMs)},${max},${set.hdr}` }];
    }),
  );
  // Readers expect the intervals in the order of their starts.
  const ordered = intervals.sort((a, b) => a.atMs - b.atMs).map(({ line }) => line);
  const text = `${[...lines, ...ordered].join("\n")}\n`;
  return { files: [{ name: "clearway.hlog", text }], count: ordered.length, leftOut: withoutSamples(record) };
}

interface Found {
  cell: RecordedCell;
  metric: string;
  hdrs: string[];
}

function histograms(record: RunRecord): Found[] {
  return recordedCells(record).flatMap((cell) => {
    const names = new Set(cell.rounds.flatMap(({ measurement }) => Object.keys(measurement.samples)));
    return [...names].map((metric) => ({
      cell,
      metric,
      hdrs: cell.rounds.flatMap(({ measurement }) => measurement.samples[metric]?.hdr ?? []),
    }));
  });
}

function withoutSamples(record: RunRecord): Exported["leftOut"] {
  const none = ({ rounds }: RecordedCell) =>
    rounds.every(({ measurement }) => Object.keys(measurement.samples).length === 0);
  return recordedCells(record)
    .filter(none)
    .map((cell) => ({ cell: exportedName(cell), why: "because a round has one value and no samples" }));
}

/** Returns the start of each measurement by its position, in milliseconds since the start of the run. */
function startsOf(record: RunRecord): Map<number, number> {
  const rounds = record.cells.flatMap((cell) => cell.rounds).sort((a, b) => a.position - b.position);
  const starts = new Map<number, number>();
  let atMs = 0;
  for (const { position, tookMs } of rounds) {
    starts.set(position, atMs);
    atMs += tookMs;
  }
  return starts;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Returns a file name with only letters, digits and `._=-`, which no two files share. */
function fileName(name: string, taken: Set<string>): string {
  const plain = name.replace(/[^A-Za-z0-9._=-]+/g, "_").slice(0, NAME_CHARACTERS_MAX);
  let unique = plain;
  // Some file systems do not distinguish upper case from lower case.
  for (let number = 2; taken.has(unique.toLowerCase()); number++) unique = `${plain}.${number}`;
  taken.add(unique.toLowerCase());
  return `${unique}.hgrm`;
}
