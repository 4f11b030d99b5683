// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads V8's CPU profile: the nodes of a trace, and the profile of a Node process.
import type { Sample, StackFrame } from "./evidence.js";

/** A node of V8's call tree. Lines and columns count from 0. A trace names the parent; a profile names the children. */
export interface ProfileNode {
  readonly id: number;
  readonly parent?: number;
  readonly children?: readonly number[];
  readonly callFrame: {
    readonly functionName: string;
    readonly url?: string;
    readonly lineNumber?: number;
    readonly columnNumber?: number;
  };
  readonly positionTicks?: readonly { readonly line: number; readonly ticks: number }[];
}

/** The answer of `Profiler.stop`. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

interface KnownStack {
  readonly stack: readonly StackFrame[];
  readonly state: Sample["state"];
}

const STATES: Readonly<Record<string, Sample["state"]>> = {
  "(garbage collector)": "gc",
  "(idle)": "idle",
  "(program)": "native",
  "(root)": "native",
};

/** The depth at which a stack is cut. The cut is at the inner end, because the outer functions lead to a cause. */
const DEPTH_MAX = 512;

/** Returns the stack of each node, outermost function first. A node whose parent is missing, or its own ancestor, begins a stack. */
export function profileStacks(nodes: readonly ProfileNode[]): Map<number, KnownStack> {
  const parents = new Map<number, number>();
  const byId = new Map<number, ProfileNode>();
  for (const node of nodes) {
    byId.set(node.id, node);
    if (node.parent !== undefined) parents.set(node.id, node.parent);
    for (const child of node.children ?? []) parents.set(child, node.id);
  }
  const stacks = new Map<number, KnownStack>();
  for (const { id } of nodes) {
    const frames: StackFrame[] = [];
    let state: Sample["state"] = "script";
    const seen = new Set<number>();
    for (let at: number | undefined = id; at !== undefined && !seen.has(at); at = parents.get(at)) {
      seen.add(at);
      const node = byId.get(at);
      if (node === undefined) break;
      const { functionName } = node.callFrame;
      if (at === id) state = STATES[functionName] ?? "script";
      if (!(functionName in STATES)) frames.push(stackFrameOf(node));
    }
    frames.reverse();
    stacks.set(id, { stack: state === "script" ? frames.slice(0, DEPTH_MAX) : [], state });
  }
  return stacks;
}

function stackFrameOf({
  callFrame: { functionName, url = "", lineNumber = -1, columnNumber = -1 },
}: ProfileNode): StackFrame {
  return {
    functionName,
    url,
    ...(lineNumber >= 0 && url !== "" ? { line: lineNumber + 1 } : {}),
    ...(columnNumber >= 0 && url !== "" ? { column: columnNumber + 1 } : {}),
  };
}

/** Returns the samples of a profile. `zeroUs` is the profile's time that becomes 0. */
export function profileSamples(profile: CpuProfile, zeroUs: number): Sample[] {
  const stacks = profileStacks(profile.nodes);
  const lines = new Map(profile.nodes.map((node) => [node.id, hottestLine(node)]));
  const { samples = [], timeDeltas = [] } = profile;
  let atUs = profile.startTime;
  return samples.flatMap((id, index) => {
    atUs += timeDeltas[index] ?? 0;
    const known = stacks.get(id);
    if (known === undefined) return [];
    // The ticks of a built-in function are lines of the engine.
    const line = (known.stack.at(-1)?.url ?? "") === "" ? undefined : lines.get(id);
    return [
      {
        atMs: (atUs - zeroUs) / 1000,
        ms: Math.max(0, timeDeltas[index + 1] ?? 0) / 1000,
        ...known,
        ...(line === undefined ? {} : { line }),
      },
    ];
  });
}

/** Returns the line with the most samples of a node. A profile does not have the line of each sample, as a trace has. */
function hottestLine({ positionTicks = [] }: ProfileNode): number | undefined {
  let hottest: { line: number; ticks: number } | undefined;
  for (const each of positionTicks) if (each.line > 0 && each.ticks > (hottest?.ticks ?? 0)) hottest = each;
  return hottest?.line;
}
