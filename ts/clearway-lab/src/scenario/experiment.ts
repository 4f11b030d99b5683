// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiments that the profile `published` repeats. They are data: scenarios/published/NUMBER-NAME.json. Several files may
// share a number: the first one, by file name, has the question, and the others add cells, tables and findings.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { HostName, Params } from "../protocol/message.js";
import { belongsOn, type ParamSet, type Scenario, scenarioFolder, USUAL_HOSTS } from "./scenario.js";

/** The cells of one scenario that an experiment measures. */
export interface ExperimentCells {
  scenario: string;
  /** Number of rounds of every set that does not name its own. */
  rounds: number;
  sets: ParamSet[];
}

/** A row of a platform that cannot run here, with the figures that the authors published. */
export interface AuthorsRow {
  title: string;
  /** The authors' figures in the column's unit, by metric, or by the value of the parameter `by`. */
  figures: Record<string, number>;
  /** Why the row cannot be measured here. */
  why: string;
}

export interface ExperimentColumn {
  label: string;
  /** The name of a value, or SAMPLE.FIGURE with a figure of `Distribution`, for example `latency.p99`. */
  metric: string;
  unit: string;
}

/** A chart of a table's rows: the distribution of a sample, a row each; a heat map; or else the metric by size, a line each. */
export interface ExperimentChart {
  /** The file of the chart, in docs/experiments. */
  file: string;
  /** What the axis shows. For messages, it names the loop. */
  axis: string;
  /** The sample whose distribution is drawn. */
  sample?: string;
  /** Whether the chart is a heat map: the columns of the table, with the published ways and Clearway's in the order of their figures. */
  isHeat?: true;
  /** The mechanisms of the lines, two by two: both have one colour, and the second line is dashed. Default: every row, a colour each. */
  pairs?: [string, string][];
}

/** A table of an experiment. A row is a mechanism. */
export interface ExperimentTable {
  title: string;
  scenario: string;
  host: HostName;
  /** The parameters that select the cells. */
  params: Params;
  /** The mechanisms that have a row. Default: every mechanism with a cell. */
  mechanisms?: string[];
  /** One column per metric. Either `columns`, or `by` with `metric` and `unit`. */
  columns?: ExperimentColumn[];
  /** The parameter with one column per value. */
  by?: string;
  metric?: string;
  unit?: string;
  /** The figure by which the rows are ordered, smallest first. Default: the order of the scenario. */
  order?: string;
  /** Adds the sizes whose figure, in milliseconds, fits a frame of 60 and of 120 Hz. Needs `by`. */
  frames?: boolean;
  /** The chart under the table's title. */
  chart?: ExperimentChart;
  /** A paragraph before the table. */
  text?: string;
  /** Adds the published verdict on each row: "Jank: 63 frames dropped, max lag 1001 ms". Needs the figures of measureFrameDrops. */
  jank?: boolean;
  authors?: AuthorsRow[];
}

/** A figure of one cell. */
export interface CellFigure {
  scenario: string;
  host: HostName;
  mechanism: string;
  /** The parameters that select the cell. The cell may have further ones. */
  params: Params;
  metric: string;
}

/**
 * A finding as a number with bounds. The number is, round by round: the figure of `subject` (`value`), `subject` divided by
 * `reference` (`ratio`), `subject` divided by the smallest of `among` (`first`), or the largest divided by the smallest of `among`
 * (`spread`).
 */
export interface Finding {
  claim: string;
  /** The authors' own figures or words. A finding without them is not the authors': it is what this lab expects. */
  authors?: string;
  kind: "value" | "ratio" | "first" | "spread";
  subject: CellFigure;
  reference?: Partial<CellFigure>;
  among?: string[];
  /** The bounds. A claim with a figure has both around it; a claim of an order begins at 0. */
  min: number;
  max: number;
  /** The reason why this run agrees or differs, with the test of it. A finding that differs without one has an unknown cause. */
  why?: { agrees?: string; differs?: string };
}

export interface Experiment {
  number: number;
  name: string;
  title: string;
  /** What the authors measured on, as far as they published it. */
  origin: string;
  question: string;
  measures: ExperimentCells[];
  tables: ExperimentTable[];
  findings: Finding[];
  leftOut: { what: string; why: string }[];
}

type ExperimentFile = Pick<Experiment, "number" | "measures"> & Partial<Experiment>;

/** Returns the experiments in the order of their numbers. Throws an Error that names the file if the scenarios lack a part of one. */
export function loadExperiments(
  scenarios: readonly Scenario[],
  folder = path.join(scenarioFolder(), "published"),
): Experiment[] {
  const experiments = new Map<number, Experiment>();
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  for (const name of names.sort()) {
    const file = JSON.parse(readFileSync(path.join(folder, name), "utf8")) as ExperimentFile;
    const before = experiments.get(file.number);
    const experiment = before === undefined ? whole(file) : added(before, file);
    const problem = typeof experiment === "string" ? experiment : problemOf(experiment, scenarios);
    if (problem !== undefined) throw new Error(`published/${name}: ${problem}`);
    experiments.set(file.number, experiment as Experiment);
  }
  const all = [...experiments.values()].sort((a, b) => a.number - b.number);
  const twice = repeatedCell(all, scenarios);
  if (twice !== undefined) throw new Error(`published: two sets measure one cell: ${twice}`);
  return all;
}

/** Completes the file that begins an experiment. Returns the problem if it lacks a text. */
function whole(file: ExperimentFile): Experiment | string {
  const { name, title, origin, question } = file;
  if (!Number.isInteger(file.number) || file.number < 1) return `number is no positive integer: number=${file.number}`;
  if (name === undefined || title === undefined || origin === undefined || question === undefined)
    return "the first file of an experiment needs name, title, origin and question";
  return { ...file, name, title, origin, question, ...listsOf(file) };
}

function added(experiment: Experiment, file: ExperimentFile): Experiment {
  const more = listsOf(file);
  return {
    ...experiment,
    measures: [...experiment.measures, ...more.measures],
    tables: [...experiment.tables, ...more.tables],
    findings: [...experiment.findings, ...more.findings],
    leftOut: [...experiment.leftOut, ...more.leftOut],
  };
}

function listsOf({ measures = [], tables = [], findings = [], leftOut = [] }: Partial<Experiment>) {
  return { measures, tables, findings, leftOut };
}

/** Returns the scenarios that the experiments measure. Their profile `published` has the experiments' sets, the further ones only on demand. */
export function withExperiments(
  scenarios: readonly Scenario[],
  experiments: readonly Experiment[],
  further = false,
): Scenario[] {
  return scenarios.flatMap((scenario) => {
    const own = experiments.flatMap(({ measures }) => measures.filter((each) => each.scenario === scenario.name));
    if (own.length === 0) return [];
    const sets = own
      .flatMap(({ rounds, sets: each }) => each.map((set) => ({ rounds, ...set })))
      .filter((set) => further || set.further !== true);
    return [{ ...scenario, profiles: { published: { rounds: own[0]!.rounds, sets } } }];
  });
}

function problemOf(experiment: Experiment, scenarios: readonly Scenario[]): string | undefined {
  for (const { scenario: name, rounds, sets } of experiment.measures) {
    const scenario = scenarios.find((each) => each.name === name);
    if (scenario === undefined) return `unknown scenario: scenario=${name}`;
    if (!Number.isInteger(rounds) || rounds < 1)
      return `rounds is no positive integer: scenario=${name} rounds=${rounds}`;
    for (const set of sets) {
      const stranger = (set.mechanisms ?? []).find((each) => !scenario.mechanisms.some((own) => own.name === each));
      if (stranger !== undefined) return `${name} has no such mechanism: mechanism=${stranger}`;
    }
  }
  for (const table of experiment.tables) {
    if ((table.columns === undefined) === (table.by === undefined))
      return `a table needs either columns or by: title=${table.title}`;
    if (table.by !== undefined && (table.metric === undefined || table.unit === undefined))
      return `a table with by needs metric and unit: title=${table.title}`;
    const unmeasured = [...(table.mechanisms ?? []), ...(table.chart?.pairs ?? []).flat()].find(
      (mechanism) => !isMeasured(experiment, scenarios, { ...table, mechanism }),
    );
    if (unmeasured !== undefined) return `no cell belongs to a table: title=${table.title} mechanism=${unmeasured}`;
    if (!isMeasured(experiment, scenarios, table)) return `no cell belongs to a table: title=${table.title}`;
  }
  for (const finding of experiment.findings) {
    const problem = findingProblem(finding);
    if (problem !== undefined) return `${problem}: claim=${finding.claim}`;
    const missing = figuresOf(finding).find((figure) => !isMeasured(experiment, scenarios, figure));
    if (missing !== undefined)
      return `no cell decides a finding: claim=${finding.claim} mechanism=${missing.mechanism} params=${JSON.stringify(missing.params)}`;
  }
  return undefined;
}

function findingProblem({ kind, reference, among = [], min, max }: Finding): string | undefined {
  if (!(min <= max)) return `a finding needs two bounds: min=${min} max=${max}`;
  if (kind === "ratio" && reference === undefined) return "a ratio needs a reference";
  if (kind === "first" && among.length < 1) return "a comparison with the first needs other mechanisms in among";
  if (kind === "spread" && among.length < 2) return "a spread needs two mechanisms in among";
  return undefined;
}

/** Returns every figure that a finding compares. The first one is the numerator of `value`, `ratio` and `first`. */
export function figuresOf({ kind, subject, reference, among = [] }: Finding): CellFigure[] {
  if (kind === "value") return [subject];
  if (kind === "ratio") return [subject, { ...subject, ...reference }];
  const others = among.map((mechanism) => ({ ...subject, mechanism }));
  return kind === "first" ? [subject, ...others] : others;
}

/** Returns whether the experiment measures a cell with these properties. */
function isMeasured(
  { measures }: Experiment,
  scenarios: readonly Scenario[],
  wanted: Pick<CellFigure, "scenario" | "host" | "params"> & { mechanism?: string },
): boolean {
  const scenario = scenarios.find(({ name }) => name === wanted.scenario);
  if (scenario === undefined) return false;
  const { mechanism: name, host } = wanted;
  const mechanisms = scenario.mechanisms.filter(
    (each) => (name === undefined || each.name === name) && belongsOn(host, scenario, each),
  );
  return measures
    .filter((each) => each.scenario === wanted.scenario)
    .flatMap(({ sets }) => sets)
    .some(
      (set) =>
        (set.hosts === undefined || set.hosts.includes(host)) &&
        includes(set.params, wanted.params) &&
        mechanisms.some((each) => set.mechanisms === undefined || set.mechanisms.includes(each.name)),
    );
}

/** Returns the description of a cell that two sets have. Such a cell would be measured twice, and its figures would be ambiguous. */
function repeatedCell(experiments: readonly Experiment[], scenarios: readonly Scenario[]): string | undefined {
  const seen = new Set<string>();
  for (const scenario of withExperiments(scenarios, experiments, true)) {
    for (const set of scenario.profiles?.published.sets ?? []) {
      for (const host of set.hosts ?? scenario.hosts ?? USUAL_HOSTS) {
        for (const { name } of scenario.mechanisms) {
          if (set.mechanisms !== undefined && !set.mechanisms.includes(name)) continue;
          const params = Object.entries(set.params).sort(([a], [b]) => a.localeCompare(b));
          const cell = `${scenario.name}/${name} on ${host} ${JSON.stringify(params)}`;
          if (seen.has(cell)) return cell;
          seen.add(cell);
        }
      }
    }
  }
  return undefined;
}

/** Returns whether `params` has every entry of `wanted`. */
export function includes(params: Params, wanted: Params): boolean {
  return Object.entries(wanted).every(([name, value]) => params[name] === value);
}
