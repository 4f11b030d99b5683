// SPDX-License-Identifier: MIT OR Apache-2.0
// Stores the subjects (measured mechanisms) of each host, so that the functions in this folder know them without running them.
import type { HostName } from "../../protocol/message.js";
import type { Subject } from "../collect.js";
import type { RowContext } from "../run.js";

/** A subject of a host, with the reason if it cannot run there. */
export interface KnownSubject extends Subject {
  unavailable?: string;
}

/** The subjects by host, then by number of threads. */
const told = new Map<HostName, Record<number, KnownSubject[]>>();

/** Asks a host for its subjects, once. The libraries load only in the measuring process or page. Call this before the other functions. */
export async function learn(host: RowContext["host"]): Promise<void> {
  if (told.has(host.name)) return;
  const one = await host.probe<KnownSubject[]>("list", { threads: 1 });
  const two = await host.probe<KnownSubject[]>("list", { threads: 2 });
  told.set(host.name, { 1: one, 2: two });
}

/** Returns all subjects of a host for a number of worker threads. */
export const known = (host: HostName, threads: number): KnownSubject[] => told.get(host)?.[threads] ?? [];

export function subjectOf(host: HostName, name: string, threads = 1): KnownSubject {
  const found = known(host, threads).find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`no such mechanism: host=${host} name=${name} threads=${threads}`);
  return found;
}

/** Returns the series of peers only. */
export function peersOf<T>(host: HostName, series: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(series).filter(([name]) => subjectOf(host, name).role === "peer"));
}
