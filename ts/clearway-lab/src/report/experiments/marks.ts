// SPDX-License-Identifier: MIT OR Apache-2.0
// Which run measured what, in the tables of a kept run with added ones. A run without a mark is the kept one, A.
import type { RecordedCell } from "../../run/record.js";

const BY_RUN = "each run had its own machine or its own day";
export const MARKED_FIGURES = `a letter after a p50: the added run that measured it and its p99. Compare figures of one language and one run, because ${BY_RUN}`;
const MARKED_ROWS = `compare only rows of one run, because ${BY_RUN}`;

/** Marks the rows that added runs measured, in a table that several runs measured. Returns a note if an added run measured any. */
export function withMarks<Row extends { title: string; cells: readonly RecordedCell[] }>(
  rows: Row[],
): { rows: Row[]; note: string[] } {
  const runsOf = ({ cells }: Row) => {
    const measured = cells.filter(({ rounds }) => rounds.length > 0);
    return [...new Set(measured.map(({ added }) => added))].sort();
  };
  const [run, ...others] = new Set(rows.flatMap(runsOf));
  if (others.length === 0)
    return { rows, note: run === undefined ? [] : [`all rows: run ${run}; compare them only with tables of that run`] };
  const titled = (row: Row): Row => {
    const added = runsOf(row).filter((each) => each !== undefined);
    return added.length === 0 ? row : { ...row, title: `${row.title} (run ${added.join(", ")})` };
  };
  return { rows: rows.map(titled), note: [MARKED_ROWS] };
}
