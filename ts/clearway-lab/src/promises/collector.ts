// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the figures that the functions in measurements/ measure, as cells of results.json. The family "bench" has the measurements by
// mechanism. The family "promise" has the table: each line has a ratio or a figure, its target, and the verdict.
import type { HostName, Params } from "../protocol/message.js";
import type { Floor } from "../run/floor.js";
import type { Metric, ResultCell } from "../run/results.js";
import type { Role } from "../scenario/scenario.js";
import { distributionOf, significant } from "../statistics/distribution.js";
import { histogramOf } from "../statistics/histogram.js";
import type { Spread } from "../statistics/rounds.js";
import { type PromisedFigure, type PromiseScenario, verdict } from "./scenario.js";

/** A measured mechanism: Clearway, another library (a peer) or a hand-written reference. */
export interface MeasuredMechanism {
  name: string;
  role: Role;
  /** The mechanism's settings. A reader needs them to repeat the measurement or to object to it. */
  settings?: string;
}

/**
 * The labels of a figure in the table. `mechanism` is the measured mechanism, and `over` is the mechanism that it is compared with. `state`
 * is the state of the threads or of the data. `detail` has both figures as text.
 */
export interface FigureLabels {
  mechanism: string;
  over?: string;
  state?: string;
  detail?: string;
}

/** All samples of a metric, or its single value. */
export type MetricInput = { unit: "us" | "ms"; samples: readonly number[] } | { unit: string; value: number };

const NS_PER = { us: 1e3, ms: 1e6 };

export class Collector {
  readonly cells: ResultCell[] = [];
  readonly noiseFloor: Floor[] = [];
  readonly #figures: ReadonlyMap<string, PromisedFigure>;

  constructor(scenarios: readonly PromiseScenario[]) {
    this.#figures = new Map(scenarios.flatMap(({ promises }) => promises.map((each) => [each.id, each] as const)));
  }

  /** Adds a mechanism's figures. */
  addMeasurement(
    scenario: string,
    host: HostName,
    mechanism: MeasuredMechanism,
    params: Params,
    metrics: Record<string, MetricInput>,
  ): void {
    const { name, role, settings } = mechanism;
    const allParams = settings ? { ...params, settings } : params;
    const named = Object.entries(metrics).map(([metric, each]) => [metric, metricOf(each)]);
    this.#add("bench", scenario, host, name, role, allParams, { status: "ok", metrics: Object.fromEntries(named) });
  }

  /** Adds a mechanism that cannot run on this host, or that failed. */
  addMissingMeasurement(
    scenario: string,
    host: HostName,
    { name, role }: MeasuredMechanism,
    params: Params,
    why: string,
    status: "unavailable" | "failed" = "unavailable",
  ): void {
    this.#add("bench", scenario, host, name, role, params, { status, why, metrics: {} });
  }

  /** Adds a promise, which is a line of the table: the figure with the middle half of its rounds. */
  addPromise(
    id: string,
    host: HostName,
    { mechanism, ...labels }: FigureLabels,
    { median, p25, p75, rounds }: Spread,
  ): void {
    const figure = this.#find(id);
    const { unit } = figure;
    const params = { ...paramsOf(figure, labels), rounds, verdict: verdict(figure, median) };
    const value = (number: number) => ({ unit, value: significant(number) }) as Metric;
    const metrics = { figure: value(median), p25: value(p25), p75: value(p75) };
    this.#add("promise", id, host, mechanism, "clearway", params, { status: "ok", metrics });
  }

  /** Adds a promise that could not be measured, with the reason. */
  addMissingPromise(
    id: string,
    host: HostName,
    { mechanism, ...labels }: FigureLabels,
    why: string,
    status: "unavailable" | "failed" = "unavailable",
  ): void {
    this.#add("promise", id, host, mechanism, "clearway", paramsOf(this.#find(id), labels), {
      status,
      why,
      metrics: {},
    });
  }

  /** Records the factor between two measurements of the same thing. */
  addNoise(scenario: string, host: HostName, mechanism: string, params: Params, factor: number, rounds: number): void {
    const ratio = significant(factor);
    this.noiseFloor.push({
      family: "bench",
      scenario,
      host,
      params,
      mechanism,
      metric: "latency.p50",
      ratio,
      rounds,
    });
  }

  #find(id: string): PromisedFigure {
    const figure = this.#figures.get(id);
    if (figure === undefined) throw new RangeError(`no scenario has this promise: id=${id}`);
    return figure;
  }

  #add(
    family: string,
    scenario: string,
    host: HostName,
    mechanism: string,
    role: Role,
    params: Params,
    rest: Pick<ResultCell, "status" | "why" | "metrics">,
  ): void {
    this.cells.push({ family, scenario, host, mechanism, role, params, ...rest });
  }
}

function metricOf(input: MetricInput): Metric {
  if (!("samples" in input)) return { unit: input.unit, value: significant(input.value) } as Metric;
  const { unit, samples } = input;
  return distributionOf(histogramOf(samples.map((value) => value * NS_PER[unit])), unit);
}

function paramsOf(
  { what, sense, value }: PromisedFigure,
  { over, state, detail }: Omit<FigureLabels, "mechanism">,
): Params {
  const params = { what, over, state, detail, sense, asked: value };
  return Object.fromEntries(Object.entries(params).filter(([, each]) => each !== undefined)) as Params;
}
