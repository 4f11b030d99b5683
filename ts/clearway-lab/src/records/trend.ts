// SPDX-License-Identifier: MIT OR Apache-2.0
// The trend of kept runs: each comparison's ratio over time, on each machine. Both sides of a ratio were measured in the same rounds of the
// same run, so ratios of different runs can be compared. Absolute times cannot, and are not part of a trend.
import { answersOf, verdictOfPart } from "../run/answer.js";
import type { RunRecord } from "../run/record.js";
import { changesOf } from "./change.js";
import { type Comparison, comparisonsOf } from "./comparisons.js";
import type { FoundRecord } from "./read-records.js";
import { machineKey } from "./record-name.js";
import type { Trend, TrendMachine, TrendPoint, TrendRun, TrendSeries } from "./trend-data.js";

interface Read {
  run: TrendRun;
  machine: RunRecord["machine"];
  found: { comparison: Comparison; point: Omit<TrendPoint, "run"> }[];
}

/** Makes the trend of kept runs. Reads one record at a time and keeps only its ratios. */
export function trendOf(records: Iterable<FoundRecord>): Trend {
  const groups = new Map<string, Read[]>();
  const problems: Trend["problems"] = [];
  const seen = new Map<string, string>();
  for (const { folder, run, problem } of records) {
    if (run === undefined) {
      problems.push({ folder, problem: problem ?? "it cannot be read" });
      continue;
    }
    const { startedAt, seed, machine } = run.record;
    const same = JSON.stringify([startedAt, seed]);
    const first = seen.get(same);
    if (first !== undefined) {
      problems.push({ folder, problem: `it has the same run as ${first}: remove one of them` });
      continue;
    }
    seen.set(same, folder);
    try {
      const key = machineKey(machine);
      groups.set(key, [...(groups.get(key) ?? []), readRun(folder, run.record)]);
    } catch (error) {
      problems.push({
        folder,
        problem: `no ratios follow from its rounds (${(error as Error).message.slice(0, 200)})`,
      });
    }
  }
  const machines = [...groups].map(([key, runs]) => machineOf(key, runs));
  const newest = ({ runs }: TrendMachine) => runs.at(-1)!.startedAt;
  return { machines: machines.sort((a, b) => (newest(a) < newest(b) ? 1 : -1)), problems };
}

function readRun(folder: string, record: RunRecord): Read {
  const { startedAt, profile, build, machine } = record;
  const hosts = Object.entries(record.hosts).map(([host, { runtime }]) => [`runtime of ${host}`, runtime]);
  const peers = Object.entries(build.peers).map(([name, version]) => [`version of ${name}`, version]);
  const versions: Record<string, string> = {
    ...Object.fromEntries([...hosts, ...peers]),
    "operating system": machine.os,
    governor: machine.governor,
    "options of Node": build.nodeOptions || "none",
  };
  const { commit, clearway, lab } = build;
  return { run: { folder, startedAt, profile, commit, clearway, lab, versions }, machine, found: pointsOf(record) };
}

function pointsOf(record: RunRecord): Read["found"] {
  return comparisonsOf(record).flatMap((comparison) => {
    const { compared } = comparison;
    const question = { name: "", question: "", sentence: "", comparisons: [compared] };
    const [part] = answersOf(record, [question])[0]?.parts ?? [];
    if (part?.decision === undefined) return [];
    const { ratio, low, high, rounds, floor } = part.decision;
    const why = part.why === undefined ? {} : { why: part.why };
    return [{ comparison, point: { ratio, low, high, rounds, floor, verdict: verdictOfPart(part), ...why } }];
  });
}

function machineOf(key: string, reads: readonly Read[]): TrendMachine {
  const ordered = [...reads].sort((a, b) => (a.run.startedAt < b.run.startedAt ? -1 : 1));
  const runs = ordered.map(({ run }) => run);
  const series = new Map<string, TrendSeries>();
  // The newest run names the comparisons and their order.
  for (const [back, { found }] of [...ordered].reverse().entries()) {
    const run = runs.length - 1 - back;
    for (const { comparison, point } of found) {
      const { key: own, question, label, better, params, compared } = comparison;
      const { host, scenario, metric, subject, reference } = compared;
      const known = series.get(own);
      if (known !== undefined) known.points.unshift({ run, ...point });
      else
        series.set(own, {
          ...{ key: own, question, label, host, scenario, metric, subject, reference, params, better },
          points: [{ run, ...point }],
          changes: [],
        });
    }
  }
  const all = [...series.values()].map((each) => ({ ...each, changes: changesOf(each, runs) }));
  const { cpu, cores, memoryGb, os, arch, virtual } = ordered.at(-1)!.machine;
  return { key, cpu, cores, memoryGb, os: os.split(" ")[0]!, arch, virtual, runs, series: all };
}
