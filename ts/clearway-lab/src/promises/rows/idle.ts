// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the processor time of a warm, idle pool.
import { spread } from "../../statistics/rounds.js";
import type { RowContext } from "../run.js";
import { type KnownSubject, known, learn } from "./subjects.js";

/**
 * Time for which the heap settles before the measurement, in milliseconds. V8 collects garbage in the background for about ten seconds
 * after an app becomes idle. A bare worker then costs 0.4 % of a core. Even after fifteen seconds, a few runs had a last collection of
 * 30 ms, which is 0.3 % of the ten measured seconds.
 */
const settleMs = 30_000;
const idleMs = 10_000;

/** The share of a core in percent, or the reason why there is none. */
type Idle = { subject: KnownSubject } & ({ share: number; why?: undefined } | { share?: undefined; why: string });

export async function idle({ host, collect }: RowContext): Promise<void> {
  await learn(host);
  // In Node each mechanism is idle in a separate process, so all are measured at the same time without disturbing one another. A browser's
  // pages take turns. The bare worker has no target. It is measured only in Node, where it takes no extra time.
  const atOnce = host.name === "node";
  const all = known(host.name, 1).filter(({ role }) => role === "clearway" || (atOnce && role === "reference"));
  const measure = async (subject: KnownSubject): Promise<Idle> => {
    if (subject.unavailable !== undefined) return { subject, why: subject.unavailable };
    return { subject, share: await host.probe<number>("idle", { name: subject.name, calls: 2000, settleMs, idleMs }) };
  };
  const found: Idle[] = [];
  if (atOnce) found.push(...(await Promise.all(all.map(measure))));
  else for (const subject of all) found.push(await measure(subject));
  for (const { subject, share, why } of found) {
    const about = { of: subject.name };
    if (why !== undefined) {
      collect.absent("idle", host.name, subject, { idleMs }, why);
      if (subject.role === "clearway") collect.unmeasured("idle-cpu", host.name, about, why);
      continue;
    }
    collect.measured("idle", host.name, subject, { idleMs }, { cpu: { unit: "%", value: share } });
    if (subject.role === "clearway") collect.promise("idle-cpu", host.name, about, spread([share]));
  }
}
