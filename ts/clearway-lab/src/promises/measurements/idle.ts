// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the processor time of a warm, idle pool.
import { spread } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";
import { type HostMechanism, loadMechanisms, mechanismsOn } from "./mechanisms.js";

/**
 * Time for which the heap settles before the measurement, in milliseconds. V8 collects garbage in the background for about ten seconds
 * after an app becomes idle. A bare worker then costs 0.4 % of a core. Even after fifteen seconds, a few runs had a last collection of
 * 30 ms, which is 0.3 % of the ten measured seconds.
 */
const settleMs = 30_000;
const idleMs = 10_000;

/** The share of a core in percent, or the reason why there is none. */
type IdleResult = { mechanism: HostMechanism } & (
  | { share: number; why?: undefined }
  | { share?: undefined; why: string }
);

export async function idle({ host, collector }: MeasurementContext): Promise<void> {
  await loadMechanisms(host);
  // In Node each mechanism is idle in a separate process, so all are measured at the same time without disturbing one another. A browser's
  // pages take turns. The bare worker has no target. It is measured only in Node, where it takes no extra time.
  const concurrent = host.name === "node";
  const mechanisms = mechanismsOn(host.name, 1).filter(
    ({ role }) => role === "clearway" || (concurrent && role === "reference"),
  );
  const measure = async (mechanism: HostMechanism): Promise<IdleResult> => {
    if (mechanism.unavailable !== undefined) return { mechanism, why: mechanism.unavailable };
    return {
      mechanism,
      share: await host.probe<number>("idle", { name: mechanism.name, calls: 2000, settleMs, idleMs }),
    };
  };
  const results: IdleResult[] = [];
  if (concurrent) results.push(...(await Promise.all(mechanisms.map(measure))));
  else for (const mechanism of mechanisms) results.push(await measure(mechanism));
  for (const { mechanism, share, why } of results) {
    const labels = { mechanism: mechanism.name };
    if (why !== undefined) {
      collector.addMissingMeasurement("idle", host.name, mechanism, { idleMs }, why);
      if (mechanism.role === "clearway") collector.addMissingPromise("idle-cpu", host.name, labels, why);
      continue;
    }
    collector.addMeasurement("idle", host.name, mechanism, { idleMs }, { cpu: { unit: "%", value: share } });
    if (mechanism.role === "clearway") collector.addPromise("idle-cpu", host.name, labels, spread([share]));
  }
}
