// SPDX-License-Identifier: MIT OR Apache-2.0
// The subjects' names, roles and settings, which the rows use without running them.

/** Subjects by host and number of threads. */
const told = new Map();

/** Asks a host for its subjects, once: the libraries load only where they are measured. Call it before the others. */
export async function learn(host) {
  if (told.has(host.name)) return;
  const [one, two] = [await host.probe("list", { threads: 1 }), await host.probe("list", { threads: 2 })];
  told.set(host.name, { 1: one, 2: two });
}

/** Returns all subjects of a host: `{ name, role, settings, unavailable? }`. */
export const known = (host, threads) => told.get(host)[threads];

export function subjectOf(host, name, threads = 1) {
  const found = known(host, threads).find((each) => each.name === name);
  if (found === undefined) throw new RangeError(`no such mechanism: host=${host} name=${name} threads=${threads}`);
  return found;
}

/** Returns those of the series that belong to peers. */
export function peersOf(host, series, threadsIn = () => 1, nameIn = (key) => key) {
  return Object.fromEntries(
    Object.entries(series).filter(([key]) => subjectOf(host, nameIn(key), threadsIn(key)).role === "peer"),
  );
}
