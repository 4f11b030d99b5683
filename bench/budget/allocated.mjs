// SPDX-License-Identifier: MIT OR Apache-2.0
// What the library's own code allocates on this thread, as V8's sampling heap profiler sees it with an interval of one byte:
// every allocation, those that were collected since included.

/** Runs `work` and returns the samples taken under it, as `{ size, … }` in bytes: those of the library's functions. */
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

/** What was allocated under the library's functions, down to the next function of somebody else's. */
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
