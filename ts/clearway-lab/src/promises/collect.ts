// SPDX-License-Identifier: MIT OR Apache-2.0
// Collects the figures that the functions in rows/ measure, as cells of results.json. The family "bench" has the measurements by mechanism.
// The family "promise" has the table: each line has a ratio or a figure, its target, and the verdict.
import type { HostName, Params } from "../protocol/message.js";
import type { Floor } from "../run/floor.js";
import type { Metric, ResultCell } from "../run/results.js";
import type { Role } from "../scenario/scenario.js";
import { distributionOf, significant } from "../statistics/distribution.js";
import { histogramOf } from "../statistics/histogram.js";
import type { Spread } from "../statistics/rounds.js";
import { type Promised, type PromiseScenario, verdict } from "./scenario.js";

/** A measured mechanism: Clearway, another library (a peer) or a hand-written reference. */
export interface Subject {
  name: string;
  role: Role;
  /** The mechanism's settings. A reader needs them to repeat the measurement or to object to it. */
  settings?: string;
}

/**
 * Describes a comparison. `of` is a mechanism, and `over` is the mechanism by which it is divided. `state` is the state of the threads
 * or of the data. `detail` has both figures as text.
 */
export interface About {
  of: string;
  over?: string;
  state?: string;
  detail?: string;
}

/** All samples of a metric, or its single value. */
export type Given = { unit: "us" | "ms"; samples: readonly number[] } | { unit: string; value: number };

const NS_PER = { us: 1e3, ms: 1e6 };

export class Collector {
  readonly cells: ResultCell[] = [];
  readonly noiseFloor: Floor[] = [];
  readonly #promised: ReadonlyMap<string, Promised>;

  constructor(scenarios: readonly PromiseScenario[]) {
    this.#promised = new Map(scenarios.flatMap(({ promises }) => promises.map((each) => [each.id, each] as const)));
  }

  /** Adds a subject's figures. */
  measured(scenario: string, host: HostName, subject: Subject, params: Params, metrics: Record<string, Given>): void {
    const { name, role, settings } = subject;
    const all = settings ? { ...params, settings } : params;
    const given = Object.entries(metrics).map(([metric, each]) => [metric, metricOf(each)]);
    this.#add("bench", scenario, host, name, role, all, { status: "ok", metrics: Object.fromEntries(given) });
  }

  /** Adds a subject that cannot run on this host, or that failed. */
  absent(
    scenario: string,
    host: HostName,
    { name, role }: Subject,
    params: Params,
    why: string,
    status: "unavailable" | "failed" = "unavailable",
  ): void {
    this.#add("bench", scenario, host, name, role, params, { status, why, metrics: {} });
  }

  /** Adds a line of the table: the figure with the middle half of its rounds. */
  promise(id: string, host: HostName, { of, ...about }: About, { median, p25, p75, rounds }: Spread): void {
    const promised = this.#find(id);
    const { unit } = promised;
    const params = { ...describe(promised, about), rounds, verdict: verdict(promised, median) };
    const value = (figure: number) => ({ unit, value: significant(figure) }) as Metric;
    const metrics = { figure: value(median), p25: value(p25), p75: value(p75) };
    this.#add("promise", id, host, of, "clearway", params, { status: "ok", metrics });
  }

  /** Adds a line of the table that could not be measured. */
  unmeasured(
    id: string,
    host: HostName,
    { of, ...about }: About,
    why: string,
    status: "unavailable" | "failed" = "unavailable",
  ): void {
    this.#add("promise", id, host, of, "clearway", describe(this.#find(id), about), { status, why, metrics: {} });
  }

  /** Records the factor between two measurements of the same thing. */
  noise(scenario: string, host: HostName, mechanism: string, params: Params, apart: number, rounds: number): void {
    const ratio = significant(apart);
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

  #find(id: string): Promised {
    const found = this.#promised.get(id);
    if (found === undefined) throw new RangeError(`no scenario has this promise: id=${id}`);
    return found;
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

function metricOf(given: Given): Metric {
  if (!("samples" in given)) return { unit: given.unit, value: significant(given.value) } as Metric;
  const { unit, samples } = given;
  return distributionOf(histogramOf(samples.map((value) => value * NS_PER[unit])), unit);
}

function describe({ what, sense, value }: Promised, { over, state, detail }: Omit<About, "of">): Params {
  const params = { what, over, state, detail, sense, asked: value };
  return Object.fromEntries(Object.entries(params).filter(([, each]) => each !== undefined)) as Params;
}
