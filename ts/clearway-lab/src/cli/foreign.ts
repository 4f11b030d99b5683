// SPDX-License-Identifier: MIT OR Apache-2.0
// `--runner NAME=COMMAND`: hosts in any language. Their runners are asked for their mechanisms before the cells are selected.
import { InvalidArgumentError } from "commander";
import type { HostName, Measurement } from "../protocol/message.js";
import { RunnerError } from "../runner/runner-error.js";
import { type ForeignRunners, Runners } from "../runner/runners.js";
import { withHost } from "../scenario/foreign.js";
import { HOST_NAMES, type Scenario } from "../scenario/scenario.js";
import { FailedError, UsageError } from "./errors.js";
import { didYouMean } from "./nearest.js";

const NAME = /^[a-z][a-z0-9-]{0,23}$/;

/** Parses one `NAME=COMMAND` and adds it to the earlier ones. */
export function parseRunner(text: string, earlier: ForeignRunners = {}): ForeignRunners {
  const at = text.indexOf("=");
  const [name, command] = at < 0 ? [text, ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (command === "") throw new InvalidArgumentError(`it must be NAME=COMMAND, such as python="python3 runner.py"`);
  if (!NAME.test(name))
    throw new InvalidArgumentError(`a name has up to 24 small letters, digits and hyphens: name="${name}"`);
  if ((HOST_NAMES as readonly string[]).includes(name))
    throw new InvalidArgumentError(`${name} is a host of the lab; choose another name`);
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`two runners have the name "${name}"`);
  return { ...earlier, [name]: command };
}

/**
 * Returns the scenarios with the mechanisms of these runners. Throws a FailedError if a runner does not describe itself, or has no
 * mechanism of any scenario. No runner is left when it returns.
 */
export async function withForeign(scenarios: readonly Scenario[], foreign: ForeignRunners): Promise<Scenario[]> {
  const runners = new Runners({}, undefined, foreign);
  let all = [...scenarios];
  for (const host of Object.keys(foreign)) {
    const described = await runners.describe(host).catch((error: Error) => {
      throw new FailedError(
        `the runner ${host} (${foreign[host]}) cannot be used: ${error.message}`,
        "docs/lab/runner-protocol.md says what a runner must answer",
      );
    });
    const known = described.mechanisms.some(({ scenario }) => all.some(({ name }) => name === scenario));
    if (!known) {
      const offered = [...new Set(described.mechanisms.map(({ scenario }) => scenario))];
      const near = offered
        .map((name) =>
          didYouMean(
            name,
            all.map((each) => each.name),
          ),
        )
        .join("");
      throw new FailedError(
        `the runner ${host} (${foreign[host]}) has no mechanism of a scenario of the lab: scenarios=${offered.join(", ") || "none"}.${near}`,
        "clearway lab list --profile full shows the scenarios",
      );
    }
    all = withHost(all, host, described);
  }
  return all;
}

/**
 * Returns the measurement of a runner of the user's. Throws a RunnerError if it lacks the figure that the scenario compares, without which
 * the report has nothing to show.
 */
export function withComparedFigure(measurement: Measurement, compare: string): Measurement {
  const [name = "", quantile] = compare.split(".");
  if (quantile === undefined ? name in measurement.values : (measurement.samples[name]?.n ?? 0) > 0) return measurement;
  const kind = quantile === undefined ? "value" : "samples";
  throw new RunnerError(
    "wrong-answer",
    `the runner sent no ${kind} "${name}", which the scenario compares: ${compare}`,
  );
}

/** Returns the hosts to measure: the named ones, or the lab's own and those of `foreign`. Throws UsageError for an unknown host. */
export function chosenHosts(named: readonly HostName[] | undefined, foreign: ForeignRunners): HostName[] {
  const all: HostName[] = [...HOST_NAMES, ...Object.keys(foreign)];
  const stranger = named?.find((name) => !all.includes(name));
  if (stranger === undefined) return [...(named ?? all)];
  throw new UsageError(`unknown host "${stranger}". Hosts: ${all.join(", ")}.${didYouMean(stranger, all)}`);
}
