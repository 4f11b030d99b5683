// SPDX-License-Identifier: MIT OR Apache-2.0
// Every mechanism that this build can run on its host, by scenario. Modules are loaded on demand: a process that measures one mechanism
// has not loaded the libraries of another scenario.
import { nodeOnly } from "#lab-node-only";
import type { Loader, Mechanism } from "../protocol/measured.js";
import type { Description } from "../protocol/message.js";

const loaders: Record<string, Loader[]> = {
  students: [
    async () => (await import("../isolate/students.js")).students,
    async () => (await import("../isolate/clearway.js")).studentsClearway,
  ],
  "fetch-image": [
    async () => (await import("../isolate/fetch.js")).images,
    async () => (await import("../isolate/clearway.js")).imagesClearway,
  ],
  "students-published": [
    async () => (await import("../isolate/students.js")).studentsPublished,
    async () => (await import("../isolate/clearway.js")).studentsPublishedClearway,
  ],
  "fetch-json": [
    async () => (await import("../isolate/fetch.js")).jsonBodies,
    async () => (await import("../isolate/clearway.js")).jsonBodiesClearway,
  ],
  crossing: [
    async () => (await import("../isolate/crossing.js")).crossings,
    async () => (await import("../isolate/clearway.js")).crossingsClearway,
  ],
  upload: [
    async () => (await import("../isolate/upload.js")).uploads,
    async () => (await import("../isolate/clearway.js")).uploadsClearway,
  ],
  pool: [
    async () => (await import("../isolate/pool.js")).pools,
    async () => (await import("../isolate/clearway.js")).poolsClearway,
    async () => (await import("#lab-pool-peers")).nodePools,
  ],
  stream: [
    async () => (await import("../push/same-thread.js")).sameThread,
    async () => (await import("../push/other-thread.js")).otherThread,
    async () => (await import("../push/clearway.js")).streamClearway,
    async () => (await import("../push/rxjs.js")).rxjs,
  ],
  "chained-hops": [
    async () => (await import("../push/chains.js")).chains,
    async () => (await import("../push/clearway.js")).chainsClearway,
  ],
  codec: [
    async () => (await import("../codec/measure.js")).codecs,
    async () => (await import("../codec/peers.js")).codecPeers,
  ],
  "channel-worker": [
    async () => (await import("../channel/kind-clone.js")).workerBare,
    async () => (await import("../channel/kind-comlink.js")).workerComlink,
    async () => (await import("../channel/clearway.js")).workerClearway,
  ],
  ...nodeOnly,
};
// Further scenarios have the same mechanisms under other loads.
for (const name of ["stream-published", "growing-queue"]) loaders[name] = loaders["stream"]!;

const scenarioNames = Object.keys(loaders);

/** Returns a mechanism. Throws a RangeError with the existing names if this host has no such mechanism, and an Error if it cannot run. */
export async function findMechanism(scenario: string, name: string): Promise<Mechanism> {
  const names: string[] = [];
  for (const load of loaders[scenario] ?? []) {
    const mechanisms = await load();
    const found = mechanisms[name];
    if (typeof found === "function") return found;
    if (found !== undefined) throw new Error(found.unavailable);
    names.push(...Object.keys(mechanisms));
  }
  throw new RangeError(
    `no such mechanism on this host: scenario=${scenario} mechanism=${name} (${names.join(", ") || "none at all"})`,
  );
}

export async function allMechanisms(): Promise<Description["mechanisms"]> {
  const all: Description["mechanisms"] = [];
  for (const scenario of scenarioNames) {
    for (const load of loaders[scenario]!)
      for (const [mechanism, found] of Object.entries(await load().catch(noneWithoutLibrary)))
        all.push({ scenario, mechanism, ...(typeof found === "function" ? {} : found) });
  }
  return all;
}

/** The mechanisms of a library that is not installed. The package does not install the libraries of the published experiments. */
function noneWithoutLibrary(error: NodeJS.ErrnoException): Awaited<ReturnType<Loader>> {
  if (error.code === "ERR_MODULE_NOT_FOUND" && /Cannot find package/.test(error.message)) return {};
  throw error;
}
