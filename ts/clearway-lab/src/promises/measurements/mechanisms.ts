// SPDX-License-Identifier: MIT OR Apache-2.0
// Stores the mechanisms of each host, so that the functions in this folder know them without running them.
import type { HostName } from "../../protocol/message.js";
import type { MeasuredMechanism } from "../collector.js";
import type { MeasurementContext } from "../run.js";

/** A mechanism of a host, with the reason if it cannot run there. */
export interface HostMechanism extends MeasuredMechanism {
  unavailable?: string;
}

/** The loaded mechanisms, by host and then by number of threads. */
const mechanismsByHost = new Map<HostName, Record<number, HostMechanism[]>>();

/** Asks a host for its mechanisms, once. The libraries load only in the measuring process or page. Call this before the other functions. */
export async function loadMechanisms(host: MeasurementContext["host"]): Promise<void> {
  if (mechanismsByHost.has(host.name)) return;
  const withOneThread = await host.probe<HostMechanism[]>("list", { threads: 1 });
  const withTwoThreads = await host.probe<HostMechanism[]>("list", { threads: 2 });
  mechanismsByHost.set(host.name, { 1: withOneThread, 2: withTwoThreads });
}

/** Returns all mechanisms of a host for a number of worker threads. */
export const mechanismsOn = (host: HostName, threads: number): HostMechanism[] =>
  mechanismsByHost.get(host)?.[threads] ?? [];

export function mechanismOf(host: HostName, name: string, threads = 1): HostMechanism {
  const mechanism = mechanismsOn(host, threads).find((each) => each.name === name);
  if (mechanism === undefined) throw new RangeError(`no such mechanism: host=${host} name=${name} threads=${threads}`);
  return mechanism;
}

/** Returns the series of peers only. */
export function peersOf<T>(host: HostName, series: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(series).filter(([name]) => mechanismOf(host, name).role === "peer"));
}
