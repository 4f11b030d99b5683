// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the allocations of the library's own code on this thread. V8's sampling heap profiler, at an interval of one byte, reports
// every allocation, including objects that have already been collected.

/** Runs `work`. Returns a sample `{ size, … }` for each allocation of the library's functions, with the size in bytes. */
export async function allocatedDuring(session, work) {
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: 1,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await work();
  const { profile } = await session.post("HeapProfiler.stopSampling");
  return ofLibrary(profile);
}

/** Returns the samples of the library's functions and of the built-in functions that they call, but not of other code. */
function ofLibrary({ head, samples }) {
  const own = new Set();
  const walk = (node, isOwn) => {
    const { url } = node.callFrame;
    const here = url === "" ? isOwn : url.includes("/ts/clearway/dist/");
    if (here) own.add(node.id);
    for (const child of node.children) walk(child, here);
  };
  walk(head, false);
  return samples.filter(({ nodeId }) => own.has(nodeId));
}
