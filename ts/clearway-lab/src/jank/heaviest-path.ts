// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the function that holds a thread: the innermost one that is on the stack in at least half of the samples.
import type { Sample, StackFrame } from "./evidence.js";

export interface HeaviestPath {
  /** The functions of the app, outermost first. The last one is the answer. */
  readonly frames: readonly StackFrame[];
  /** The place with the most time in the last function, if that function itself ran. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** The function of the engine that the last function called for at least half of the time, such as `parse`. */
  readonly builtIn: string | undefined;
  /** The time for which the last function was on the stack. */
  readonly ms: number;
}

interface Node {
  readonly frame: StackFrame;
  ms: number;
  readonly children: Map<string, Node>;
  /** Time by line, and by column of that line. Column 0 stands for an unknown one. */
  readonly lines: Map<number, Map<number, number>>;
}

/** The share of the samples that a function must cover. The meter's causes have the same rule. */
const SHARE_MIN = 0.5;
/** The number of levels that are followed. A recursion may have thousands. */
const DEPTH_MAX = 256;

/** Returns the path, or undefined if no function covers half of the time that `samples` stand for. */
export function heaviestPath(
  samples: readonly Sample[],
  isApp: (frame: StackFrame) => boolean,
): HeaviestPath | undefined {
  const root = newNode({ functionName: "", url: "" });
  for (const sample of samples) addSample(root, sample);
  const frames: Node[] = [];
  let builtIn: string | undefined;
  let node = root;
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const next = heaviestChild(node);
    if (next === undefined || next.ms < root.ms * SHARE_MIN) break;
    node = next;
    if (isApp(next.frame)) {
      frames.push(next);
      builtIn = undefined;
    } else builtIn ??= next.frame.functionName;
  }
  const last = frames.at(-1);
  if (last === undefined) return undefined;
  const position = heaviestPosition(last);
  return { frames: frames.map(({ frame }) => frame), ...position, builtIn: builtIn || undefined, ms: last.ms };
}

function newNode(frame: StackFrame): Node {
  return { frame, ms: 0, children: new Map(), lines: new Map() };
}

function addSample(root: Node, sample: Sample): void {
  root.ms += sample.ms;
  let node = root;
  let lastWithSource: Node | undefined;
  for (const frame of sample.stack.slice(0, DEPTH_MAX)) {
    const key = `${frame.functionName}\n${frame.url}\n${frame.line}\n${frame.column}`;
    let child = node.children.get(key);
    if (child === undefined) {
      child = newNode(frame);
      node.children.set(key, child);
    }
    child.ms += sample.ms;
    node = child;
    if (frame.url !== "") lastWithSource = child;
  }
  const { line, column = 0 } = sample;
  if (lastWithSource === undefined || line === undefined) return;
  const columns = lastWithSource.lines.get(line) ?? new Map<number, number>();
  columns.set(column, (columns.get(column) ?? 0) + sample.ms);
  lastWithSource.lines.set(line, columns);
}

function heaviestChild(node: Node): Node | undefined {
  let heaviest: Node | undefined;
  for (const child of node.children.values()) if (child.ms > (heaviest?.ms ?? 0)) heaviest = child;
  return heaviest;
}

function heaviestPosition({ lines }: Node): { line: number | undefined; column: number | undefined } {
  const line = heaviestKey([...lines].map(([key, columns]) => [key, [...columns.values()].reduce((a, b) => a + b, 0)]));
  const column = line === undefined ? undefined : heaviestKey([...lines.get(line)!]);
  return { line, column: column === 0 ? undefined : column };
}

function heaviestKey(entries: readonly (readonly [number, number])[]): number | undefined {
  let heaviest: readonly [number, number] | undefined;
  for (const entry of entries) if (heaviest === undefined || entry[1] > heaviest[1]) heaviest = entry;
  return heaviest?.[0];
}
