// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what the library's own code allocates on this thread, with V8's sampling heap profiler at an interval of one byte: every
// allocation, including those already collected.

/** Runs `work` and returns the samples of the library's functions meanwhile, as `{ size, … }` in bytes. */
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

/** Returns the allocations under the library's functions, down to the next function of other code. */
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
