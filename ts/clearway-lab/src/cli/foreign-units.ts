// SPDX-License-Identifier: MIT OR Apache-2.0
// Converts the figures of a runner of the user's to the units of the report. Tables, charts and ratios use the numbers alone, so a figure
// must have one unit in all rounds and for all mechanisms.
import type { HostName, Measurement, Unit, Value } from "../protocol/message.js";
import { columnUnit } from "../report/figure-units.js";
import { RunnerError } from "../runner/runner-error.js";

/** Units that convert to each other, and how many of the smallest one each is. */
const CONVERTIBLE: readonly Partial<Record<Unit, number>>[] = [
  { us: 1, ms: 1000 },
  { count: 1, events: 1, frames: 1 },
];

export class ForeignUnits {
  /** The units of the figures that have no column: the first one that a host sent. */
  readonly #first = new Map<string, Unit>();

  /** Returns the measurement in the units of the report. Throws a RunnerError that names the host and the unit if a unit does not convert. */
  converted(measurement: Measurement, scenario: string, host: HostName): Measurement {
    const samples = Object.entries(measurement.samples).map(([name, sample]) => {
      const unit = this.#unitOf(scenario, host, name, sample.unit);
      // Samples are nanoseconds. Their unit only says how the report shows them.
      if (unit === "us" || unit === "ms") return [name, { ...sample, unit }] as const;
      throw wrongUnit(host, name, sample.unit, unit);
    });
    const values = Object.entries(measurement.values).map(([name, { unit: from, value }]): [string, Value] => {
      const unit = this.#unitOf(scenario, host, name, from);
      const factor = factorOf(from, unit);
      if (factor === undefined) throw wrongUnit(host, name, from, unit);
      return [name, { unit, value: value * factor }];
    });
    return { ...measurement, samples: Object.fromEntries(samples), values: Object.fromEntries(values) };
  }

  #unitOf(scenario: string, host: HostName, name: string, sent: Unit): Unit {
    const column = columnUnit(scenario, name);
    if (column !== undefined) return column;
    const key = JSON.stringify([scenario, host, name]);
    const first = this.#first.get(key) ?? sent;
    this.#first.set(key, first);
    return first;
  }
}

function factorOf(from: Unit, to: Unit): number | undefined {
  if (from === to) return 1;
  const units = CONVERTIBLE.find((each) => each[from] !== undefined && each[to] !== undefined);
  return units && units[from]! / units[to]!;
}

function wrongUnit(host: HostName, name: string, sent: Unit, unit: Unit): RunnerError {
  const allowed = Object.keys(CONVERTIBLE.find((each) => unit in each) ?? { [unit]: 1 }).join(" or ");
  return new RunnerError(
    "wrong-answer",
    `the runner ${host} sent "${name}" in ${sent}, and the report needs it in ${allowed}`,
  );
}
