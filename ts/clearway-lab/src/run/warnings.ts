// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the reasons to doubt a run. WARNING_CODES lists all kinds. Every warning has an observation and a next step.
import { isSupported, QUANTILES, samplesNeeded } from "../statistics/distribution.js";
import type { Floor } from "./floor.js";
import { machineWarnings } from "./machine-warnings.js";
import { type RecordedCell, type RunRecord, wasWarmUpCut } from "./record.js";
import type { Warning } from "./warning.js";

/**
 * Limit for the factor between two runs of the same thing. Above it, even a difference of two fifths may be noise.
 */
const NOISE_HIGH_RATIO = 1.4;

/** The next steps that depend on the command: `clearway lab` has profiles, `clearway bench` has options. */
const NEXT = {
  lab: {
    failed: ({ scenario, mechanism, host }: RecordedCell) =>
      `run it alone: clearway lab ${scenario}/${mechanism} --profile quick --host ${host}`,
    fewRounds: "use --profile full for 3 to 20 rounds, or --rounds",
    noisy: "close other programs and run again, or use --profile full for more rounds",
    warming: "use --profile full, which warms up for longer",
    note: "see the mechanism's own documentation",
  },
  bench: {
    failed: () => "correct the way in the scenario file",
    fewRounds: "use --rounds 5 or more, or leave --rounds out",
    noisy: "close other programs and run again, or use --time for longer measurements",
    warming: "use a longer --time; the warm-up may take five times as long",
    note: "correct the way in the scenario file",
  },
};

const nextOf = ({ profile }: RunRecord) => (profile === "bench" ? NEXT.bench : NEXT.lab);

export function warningsOf(record: RunRecord, floors: readonly Floor[]): Warning[] {
  return [
    ...runWarnings(record),
    // A user's scenario shows no quantile above p90, and its tables mark that one.
    ...(record.profile === "bench" ? [] : quantileWarnings(record)),
    ...noiseWarnings(record, floors),
    ...warmUpWarnings(record),
    ...machineWarnings(record),
    ...noteWarnings(record),
  ];
}

function runWarnings(record: RunRecord): Warning[] {
  const warnings: Warning[] = [];
  const { done, planned } = record;
  if (record.interrupted) {
    const message = `The run was interrupted: ${done} of ${planned} measurements were made.`;
    warnings.push({ code: "interrupted", message, next: "run it again" });
  } else if (record.budgetEnded) {
    const message = `The time of the ${record.profile} profile ended after ${done} of ${planned} measurements.`;
    warnings.push({
      code: "budget-ended",
      message,
      next: "close other programs, name fewer cells, or use --profile full",
    });
  }
  for (const cell of record.cells.filter(({ failure }) => failure !== undefined)) {
    const message = `${cell.scenario}/${cell.mechanism} failed on ${cell.host}: ${cell.failure}`;
    warnings.push({
      code: "cell-failed",
      message,
      next: nextOf(record).failed(cell),
    });
  }
  for (const host of new Set(record.cells.map((cell) => cell.host))) {
    if (host in record.hosts) continue;
    const why =
      record.cells.find((cell) => cell.host === host && cell.unavailable !== undefined)?.unavailable ??
      "it did not start";
    warnings.push({
      code: "host-unavailable",
      message: `${host} could not run: ${why}`,
      next: "clearway hosts says what is missing",
    });
  }
  const measured = record.cells.filter((cell) => cell.rounds.length > 0);
  const few = measured.filter((cell) => cell.rounds.length < 3).length;
  if (few > 0) {
    warnings.push({
      code: "few-rounds",
      message: `${few} of ${measured.length} cells have only one or two rounds: the report claims a difference only if every round confirms it.`,
      next: nextOf(record).fewRounds,
    });
  }
  return warnings;
}

function quantileWarnings(record: RunRecord): Warning[] {
  const warnings: Warning[] = [];
  const { p99, p999 } = QUANTILES;
  const groups = new Map<string, number>();
  for (const cell of record.cells) {
    for (const name of new Set(cell.rounds.flatMap(({ measurement }) => Object.keys(measurement.samples)))) {
      const n = cell.rounds.reduce((sum, { measurement }) => sum + (measurement.samples[name]?.n ?? 0), 0);
      if (isSupported(n, p999)) continue;
      const rate = cell.params["perSecond"];
      const key = `${cell.scenario} ${name}` + (rate === undefined ? "" : ` at ${rate}/s`);
      groups.set(key, Math.min(n, groups.get(key) ?? Number.POSITIVE_INFINITY));
    }
  }
  // All groups share one warning. A quick run has about twenty groups, which would hide the other warnings.
  for (const q of [p99, p999]) {
    const few = [...groups].filter(([, n]) => (isSupported(n, p99) ? p999 : p99) === q);
    if (few.length === 0) continue;
    const label = q === p99 ? "p99 and p99.9 come" : "p99.9 comes";
    warnings.push({
      code: "quantile-unsupported",
      message: `${label} from too few samples (greyed below): ${few.map(([key, n]) => `${key} (n = ${n})`).join(", ")}.`,
      next: `${samplesNeeded(q)} samples are needed: use --profile full`,
    });
  }
  return warnings;
}

function noiseWarnings(record: RunRecord, floors: readonly Floor[]): Warning[] {
  const warnings: Warning[] = [];
  const noisy = floors.filter(({ ratio }) => ratio > NOISE_HIGH_RATIO);
  if (noisy.length > 0) {
    const factors = noisy.map(({ scenario, host, params: { perSecond: rate }, metric, ratio }) => {
      const where = `${scenario} on ${host}` + (rate === undefined ? "" : ` at ${rate}/s`);
      return `${ratio.toFixed(2)} (${where}, ${metric})`;
    });
    warnings.push({
      code: "noise-high",
      message: `In ${noisy.length} of ${floors.length} A/A pairs, two runs of the same mechanism differed by more than a factor of ${NOISE_HIGH_RATIO}: ${factors.join(", ")}. For smaller differences there, the report says "no difference seen".`,
      next: nextOf(record).noisy,
    });
  }
  return warnings;
}

function warmUpWarnings(record: RunRecord): Warning[] {
  const { cells } = record;
  const cut = cells.filter(wasWarmUpCut);
  if (cut.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { scenario, host } of cut) {
    const where = `${scenario} on ${host}`;
    counts.set(where, (counts.get(where) ?? 0) + 1);
  }
  const where = [...counts].map(([name, count]) => `${count} of ${name}`).join(", ");
  const message = `${cut.length} cells still got faster when their warm-up ended: ${where}. Fully warm, they may be faster than these figures.`;
  return [{ code: "still-warming", message, next: nextOf(record).warming }];
}

function noteWarnings(record: RunRecord): Warning[] {
  const seen = new Map<string, Warning>();
  for (const cell of record.cells) {
    for (const note of new Set(cell.rounds.flatMap(({ measurement }) => measurement.notes))) {
      const message = `${cell.scenario}/${cell.mechanism} on ${cell.host}: ${note}.`;
      seen.set(message, { code: "mechanism-note", message, next: nextOf(record).note });
    }
  }
  return [...seen.values()];
}
