// SPDX-License-Identifier: MIT OR Apache-2.0
// The comparisons of a user's scenario, as data: for each input, the calls of each way and their longest stalls, against one way.
import type { Comparison } from "../engine/comparison.js";
import { type Slicing, WARM_CALLS } from "../engine/pair.js";
import type { ScenarioInfo } from "./steps.js";

/** The names of the two kinds of work with an input. */
export const callsOf = (input: string | null | undefined): string => `calls ${input ?? ""}`;
export const stallsOf = (input: string | null | undefined): string => `stalls ${input ?? ""}`;

/** Names a way with an input, in sentences and in results. */
export const wayWith = (way: string, input: string | null): string => (input === null ? way : `${way}, input ${input}`);

const SHORT: Slicing = { ms: 9, runs: 1, blocks: 8, pairsMin: 4 };
/** Calls that are longer than a slice, and calls of which one is long enough, also to warm up. */
const LONG: Slicing = { ms: 0, runs: 1, blocks: 4, pairsMin: 4 };
const LONGEST: Slicing = { ms: 0, runs: 1, blocks: 1, pairsMin: 3 };
/** The longest stall of a call varies little where there is one. */
const STALLS: Slicing = { ms: 0, runs: 1, blocks: 2, pairsMin: 4 };
const LONGEST_MS = 500;
/** Calls that are longer than a slice are warm after this time of calls, in milliseconds. */
const WARM_MS = 500;

export interface BenchPlan {
  /** The way that the others are compared with. */
  reference: string;
  /** The file, as the user wrote it, and the command that measures it again. */
  file: string;
  command: string;
  /** Time of one call of a way, in milliseconds. Undefined for a way that failed: it is not compared. */
  callMs(way: string, input: string | null): number | undefined;
}

/** Returns the comparisons of all ways that can be compared. */
export function comparisonsOf({ ways, inputs }: ScenarioInfo, plan: BenchPlan): Comparison[] {
  const { reference, callMs } = plan;
  return ways
    .filter((way) => way !== reference)
    .flatMap((way) =>
      inputs.flatMap((input) => {
        const [own, other] = [callMs(way, input), callMs(reference, input)];
        return own === undefined || other === undefined ? [] : compared(way, input, Math.max(own, other), plan);
      }),
    );
}

/** Returns the reference against itself, with the first input with which it works. */
export function controlOf({ inputs }: ScenarioInfo, plan: BenchPlan): Comparison[] {
  const input = inputs.find((each) => plan.callMs(plan.reference, each) !== undefined);
  if (input === undefined) return [];
  const [calls] = compared(plan.reference, input, plan.callMs(plan.reference, input)!, plan);
  return [{ ...calls!, name: "same", thing: "The same way twice", peer: "itself" }];
}

/** Returns the comparisons of one way with one input. `callMs` is the time of the longer call, in milliseconds. */
export function compared(
  way: string,
  input: string | null,
  callMs: number,
  plan: Pick<BenchPlan, "reference" | "file" | "command">,
): Comparison[] {
  const { reference, file, command } = plan;
  const both = {
    ...{ host: "node" as const, subject: way, reference, cores: "free" as const, command },
    ...{ thing: wayWith(way, input), peer: reference, setUp: `the ways ${way} and ${reference} of ${file}` },
    ...{ way, ...(input !== null && { input }) },
  };
  const name = input === null ? way : `${way}/${input}`;
  const isLongest = callMs > LONGEST_MS;
  const slicing = isLongest ? LONGEST : callMs > SHORT.ms ? LONG : SHORT;
  const calls = slicing === SHORT ? WARM_CALLS : isLongest ? 0 : Math.ceil(WARM_MS / callMs);
  return [
    { ...both, name, work: callsOf(input), slicing, warm: { work: callsOf(input), calls } },
    {
      ...{
        ...both,
        name: `${name}/stall`,
        work: stallsOf(input),
        warm: { work: stallsOf(input), calls: Math.min(1, calls) },
      },
      ...{ slicing: isLongest ? LONGEST : STALLS, verb: "blocks" },
    },
  ];
}
