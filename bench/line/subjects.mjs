// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lines know about the subjects without running them.
import { subjects as inNode } from "../subject/node.mjs";

/** A page's subjects cannot be imported here. The page itself returns their names, roles and reasons, once. */
let inPage = () => [];

export async function learn(host) {
  if (host.name !== "chromium") return;
  const told = { 1: await host.probe("list", { threads: 1 }), 2: await host.probe("list", { threads: 2 }) };
  inPage = (threads) => told[threads];
}

/** Returns all subjects of a host: `{ name, role, settings, unavailable? }`. */
export const known = (host, threads) => (host === "node" ? inNode(threads) : inPage(threads));

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
