// SPDX-License-Identifier: MIT OR Apache-2.0
// A table of an experiment as texts.

export interface TableView {
  title: string;
  head: string[];
  rows: RowView[];
  /** Why rows have no figure of ours. */
  notes: string[];
  text?: string;
  chart?: { file: string; label: string; svg: string };
}

export interface RowView {
  title: string;
  /** Whether the figures are the authors'. */
  authors: boolean;
  clearway: boolean;
  cells: string[];
}

/** The figure of an unmeasured cell. */
export const NO_FIGURE = "–";
