// SPDX-License-Identifier: MIT OR Apache-2.0
import type { RecordedCell } from "../../run/record.js";

/** The mark of what an added run measured, in a table or a column with figures of the kept run. */
export const MARK = "†";
export const MARKED_HOSTS = `${MARK}: measured by an added run. The runs were made on several machines: compare figures of one language and one run`;
export const MARKED = `${MARK}: measured by an added run, on its machine: compare only rows with this mark`;
const ALL_ADDED = "all rows: measured by an added run, on its machine: compare them only with tables of the same run";

/** Returns whether some figures, and not all, are of an added run. */
export const isMixed = (added: readonly boolean[]): boolean => added.includes(true) && added.includes(false);

/** Marks the rows of added runs in a table that is mixed. Returns a note if there are any, or if all rows are of added runs. */
export function withMarks<Row extends { title: string; cells: readonly RecordedCell[] }>(
  rows: Row[],
): { rows: Row[]; note: string[] } {
  const isAdded = ({ cells }: Row): boolean => cells.some(({ added }) => added !== undefined);
  const measured = rows.filter(({ cells }) => cells.some(({ rounds }) => rounds.length > 0));
  if (measured.length > 0 && measured.every(isAdded)) return { rows, note: [ALL_ADDED] };
  if (!measured.some(isAdded)) return { rows, note: [] };
  const marked = rows.map((row) => (isAdded(row) ? { ...row, title: `${row.title} ${MARK}` } : row));
  return { rows: marked, note: [MARKED] };
}
