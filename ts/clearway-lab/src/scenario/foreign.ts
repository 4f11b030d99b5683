// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds the cells of a host that the lab does not know. The host's runner says which mechanisms it has. The scenarios say what they must do.
import type { Description, HostName } from "../protocol/message.js";
import { type MechanismInfo, type ParamSet, type Scenario, USUAL_HOSTS } from "./scenario.js";

/**
 * Returns the scenarios with the mechanisms of a host. A mechanism that a scenario already has keeps its title. A new one is a peer that is
 * titled by its name. The host measures the same sets as the scenario's first host. Mechanisms of unknown scenarios are left out: they have
 * no parameters and no expected result.
 */
export function withHost(
  scenarios: readonly Scenario[],
  host: HostName,
  { runtime, mechanisms }: Pick<Description, "runtime" | "mechanisms">,
): Scenario[] {
  return scenarios.map((scenario) => {
    const own = mechanisms.filter((each) => each.scenario === scenario.name);
    return own.length === 0 ? scenario : withMechanisms(scenario, host, runtime, [...new Set(own.map(nameOf))]);
  });
}

const nameOf = ({ mechanism }: Description["mechanisms"][number]): string => mechanism;

function withMechanisms(scenario: Scenario, host: HostName, runtime: string, names: readonly string[]): Scenario {
  const usual = scenario.hosts ?? USUAL_HOSTS;
  const known = new Set(scenario.mechanisms.map(({ name }) => name));
  const added = names.filter((name) => !known.has(name));
  const mechanisms = scenario.mechanisms.map((mechanism): MechanismInfo => {
    const hosts = mechanism.hosts ?? [...usual];
    return { ...mechanism, hosts: names.includes(mechanism.name) ? [...hosts, host] : hosts };
  });
  const peers = added.map(
    (name): MechanismInfo => ({
      name,
      title: name,
      role: "peer",
      settings: `as its runner has it, ${runtime}`,
      hosts: [host],
    }),
  );
  const first = usual[0];
  const inSet = (set: ParamSet): ParamSet => {
    if (set.hosts !== undefined && (first === undefined || !set.hosts.includes(first))) return set;
    return {
      ...set,
      ...(set.hosts && { hosts: [...set.hosts, host] }),
      ...(set.mechanisms && { mechanisms: [...set.mechanisms, ...added] }),
    };
  };
  const { quick, full, published } = scenario.profiles;
  return {
    ...scenario,
    hosts: [...usual, host],
    mechanisms: [...mechanisms, ...peers],
    profiles: {
      quick: { ...quick, sets: quick.sets.map(inSet) },
      full: { ...full, sets: full.sets.map(inSet) },
      ...(published && { published: { ...published, sets: published.sets.map(inSet) } }),
    },
  };
}
