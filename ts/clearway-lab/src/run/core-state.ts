// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the scheduler put the threads of a round: both on one core, or each on its own. A message between them costs a different time in each
// state, so two mechanisms are compared only in rounds of the same state.
import { ON_ONE_CORE } from "../protocol/measured.js";
import type { RecordedCell, RecordedRound } from "./record.js";

/** A round has a state if at most this share of its samples is of the other one, in percent. The threads may move once, at the start. */
const OTHER_STATE_MAX = 10;

export type CoreState = "one" | "two" | "both";

/** Returns the state of a round. Undefined if the threads were pinned or their cores are unknown. */
export function coreStateOf({ measurement }: Pick<RecordedRound, "measurement">): CoreState | undefined {
  const share = measurement.values[ON_ONE_CORE]?.value;
  if (share === undefined) return undefined;
  if (share >= 100 - OTHER_STATE_MAX) return "one";
  return share <= OTHER_STATE_MAX ? "two" : "both";
}

/**
 * Returns the numbers of a cell's rounds that can be compared with another cell's: those in which both cells had the same state. Returns
 * every round if a state is unknown.
 */
export function onEqualCores(own: ReadonlyMap<number, number>, cells: readonly [RecordedCell, RecordedCell]) {
  const [first, second] = cells.map(
    ({ rounds }) => new Map(rounds.map((each) => [each.round, coreStateOf(each)] as const)),
  ) as [Map<number, CoreState | undefined>, Map<number, CoreState | undefined>];
  return new Map(
    [...own].filter(([round]) => {
      const [a, b] = [first.get(round), second.get(round)];
      return a === undefined || b === undefined || (a === b && a !== "both");
    }),
  );
}
