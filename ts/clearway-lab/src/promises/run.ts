// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the scenarios of the profile `promises`, host by host. Lists the scenarios that were not measured, with the reason.
import type { NativeFiles } from "../native/promise-files.js";
import type { HostName, Json } from "../protocol/message.js";
import type { Collector } from "./collector.js";
import { type Amounts, amountsOf, type PromiseProfile, type PromiseScenario } from "./scenario.js";

/**
 * Runs a probe in a new process or page of its host. `T` is the probe's result. Rejects if the probe fails (with its error), if it takes
 * longer than `timeoutMs` milliseconds, and at once if the run is interrupted.
 */
export type Probe = <T = Json>(name: string, params: object, timeoutMs?: number) => Promise<T>;

export interface MeasurementContext {
  host: { name: HostName; probe: Probe };
  collector: Collector;
  amounts: Amounts;
  seed: number;
  nativeFiles(): NativeFiles;
  /**
   * An interruption aborts this signal. A measurement that catches the errors of its probes must check this signal, and end when it is
   * aborted.
   */
  signal: AbortSignal;
}

/** Measures one scenario on one host and records the figures. */
export type ScenarioMeasurement = (context: MeasurementContext) => Promise<void>;

export interface PromisePlan {
  scenarios: readonly PromiseScenario[];
  hosts: readonly HostName[];
  profile: PromiseProfile;
  /** Replaces the profile's numbers of rounds. */
  rounds?: number;
  seed: number;
}

export interface PromiseHosts {
  probe(host: HostName, name: string, params: object, timeoutMs?: number): Promise<Json>;
  /** The reasons why hosts cannot measure at all. */
  problems: Partial<Record<HostName, string>>;
  nativeFiles(): NativeFiles;
}

/** Returns the measurements of the plan, in order: one per pair of a host and a scenario. */
export function plannedMeasurements({
  scenarios,
  hosts,
}: PromisePlan): { host: HostName; scenario: PromiseScenario }[] {
  return hosts.flatMap((host) =>
    scenarios.filter((scenario) => scenario.hosts.includes(host)).map((scenario) => ({ host, scenario })),
  );
}

/** Measures the plan. Returns the number of successful measurements. A failing measurement does not end the run. */
export async function measurePromises(
  plan: PromisePlan,
  measurements: Readonly<Record<string, ScenarioMeasurement>>,
  hosts: PromiseHosts,
  collector: Collector,
  signal: AbortSignal,
  onMeasured: (host: HostName, scenario: string, failure: Error | undefined) => void,
): Promise<number> {
  let done = 0;
  for (const { host, scenario } of plannedMeasurements(plan)) {
    const measure = measurements[scenario.name];
    const problem = hosts.problems[host];
    if (signal.aborted) addMissingPromises(collector, host, scenario, "the run was interrupted", "unavailable");
    else if (problem !== undefined) addMissingPromises(collector, host, scenario, problem, "unavailable");
    else if (measure === undefined)
      addMissingPromises(collector, host, scenario, "this build cannot measure it", "failed");
    else {
      const probe: Probe = async <T>(name: string, params: object, timeoutMs?: number) => {
        signal.throwIfAborted();
        return (await hosts.probe(host, name, params, timeoutMs)) as T;
      };
      const amounts = amountsOf(scenario, plan.profile, plan.rounds);
      const context = {
        host: { name: host, probe },
        collector,
        amounts,
        seed: plan.seed,
        nativeFiles: hosts.nativeFiles,
        signal,
      };
      let failure: Error | undefined;
      try {
        await measure(context);
        done++;
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        if (signal.aborted) addMissingPromises(collector, host, scenario, "the run was interrupted", "unavailable");
        else addMissingPromises(collector, host, scenario, failure.message.split("\n")[0] as string, "failed");
      }
      onMeasured(host, scenario.name, signal.aborted ? undefined : failure);
    }
  }
  return done;
}

/** Adds to the table, with the reason, each of the scenario's promises (see `PromisedFigure`) that has no cell for this host yet. */
function addMissingPromises(
  collector: Collector,
  host: HostName,
  { promises }: PromiseScenario,
  why: string,
  status: "unavailable" | "failed",
): void {
  for (const { id } of promises) {
    if (!collector.cells.some((cell) => cell.scenario === id && cell.host === host))
      collector.addMissingPromise(id, host, { mechanism: "clearway" }, why, status);
  }
}
