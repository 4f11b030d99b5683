// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the allocations of a piece of work on this thread's heap. V8's sampling profiler, at an interval of one byte, reports
// each allocation, including objects that have been collected since. The memory behind buffers is not on that heap.
import { Session } from "node:inspector/promises";

/** The allocations that V8's sampling profiler found. */
export interface Allocated {
  count: number;
  bytes: number;
}

/** The part of the profiler's answer that Node's types lack. */
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
    // Every count includes the allocations of counting itself, which are subtracted.
    const empty = await counted(() => {});
    const { count, bytes } = await counted(work);
    return { count: Math.max(0, count - empty.count), bytes: Math.max(0, bytes - empty.bytes) };
  } finally {
    session.disconnect();
  }
}
