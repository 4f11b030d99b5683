// SPDX-License-Identifier: MIT OR Apache-2.0
// What a piece of work allocates on this thread's heap, as V8's sampling profiler sees it at an interval of one byte: each
// allocation, those that were collected since included. Memory behind buffers is not on that heap.
import { Session } from "node:inspector/promises";

/** V8's own counters. */
export interface Allocated {
  count: number;
  bytes: number;
}

/** The part of the protocol's answer that Node's types leave out. */
interface Profile {
  profile: { samples: { size: number }[] };
}

export async function allocatedBy(work: () => unknown): Promise<Allocated | undefined> {
  const session = new Session();
  session.connect();
  try {
    const counted = async (each: () => unknown): Promise<Allocated> => {
      await session.post("HeapProfiler.startSampling", {
        samplingInterval: 1,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      await each();
      const { profile } = (await session.post("HeapProfiler.stopSampling")) as unknown as Profile;
      return { count: profile.samples.length, bytes: profile.samples.reduce((sum, { size }) => sum + size, 0) };
    };
    // What it costs to ask is in every count: taken off.
    const empty = await counted(() => {});
    const { count, bytes } = await counted(work);
    return { count: Math.max(0, count - empty.count), bytes: Math.max(0, bytes - empty.bytes) };
  } finally {
    session.disconnect();
  }
}
