// SPDX-License-Identifier: MIT OR Apache-2.0
// The former names of mechanisms. Kept runs and users' scripts have them. The scenario `published-executors` has some of them for other code.

/** The scenarios of the family `offload` whose JVM mechanisms were renamed, because their old names did not say what they run. */
const RENAMED_IN: readonly string[] = ["works", "sizes", "changing-site"];

const PRESENT: Readonly<Record<string, string>> = {
  "coroutines-blocking": "coroutines-launch",
  flow: "flow-map",
  "coroutines-default": "coroutines-launch-default",
  "coroutines-default-limited": "coroutines-launch-default-limited",
  "flow-default": "flow-flatmapmerge-default",
  "flow-limited": "flow-flatmapmerge-cores",
  "coroutines-io": "coroutines-launch-io",
  "flow-io": "flow-flatmapmerge-io",
  "rxjava-single": "rxjava-flowable-single",
  "rxjava-computation": "rxjava-parallel-computation",
  "rxjava-io": "rxjava-flatmap-io",
  "fixed-pool": "fixed-pool-invokeall",
  "work-stealing": "work-stealing-invokeall",
  "fixed-100": "fixed-100-invokeall",
  "work-stealing-100": "work-stealing-100-invokeall",
};

/** Returns the present name of a scenario's mechanism. Returns `mechanism` if it was not renamed. */
export function presentName(scenario: string, mechanism: string): string {
  return RENAMED_IN.includes(scenario) && Object.hasOwn(PRESENT, mechanism) ? PRESENT[mechanism]! : mechanism;
}
