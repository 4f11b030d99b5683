// SPDX-License-Identifier: MIT OR Apache-2.0
// What an export reads: a run with its samples (record.json), or only its figures (results.json, promises.json).
import type { Params } from "../protocol/message.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { ResultCell, Results } from "../run/results.js";

export interface ExportSource {
  /** The name of the file that was read, for messages. */
  file: string;
  results: Results;
  /** Absent if only the figures of the run are kept. */
  record?: RunRecord;
  /** Where the record has lost samples. Then the figures are the source. */
  gone?: string;
}

/** One file of an export. */
export interface ExportedFile {
  name: string;
  text: string;
}

export interface Exported {
  files: ExportedFile[];
  /** The number of exported cells, or of histograms. */
  count: number;
  /** The cells that the format cannot hold, each with the reason. */
  leftOut: { cell: string; why: string }[];
}

/**
 * Thrown by a format that needs samples if the run has only figures. Samples that quantiles are made of cannot be computed from them, so
 * the export invents none.
 */
export class SamplesGoneError extends Error {
  override readonly name = "SamplesGoneError";
  constructor(
    readonly format: string,
    readonly file: string,
    gone?: string,
  ) {
    super(
      gone === undefined
        ? `${format} needs the samples of a run, and ${file} has only figures computed from them. ` +
            "Export the run's record.json, or use bmf, openmetrics or markdown"
        : `${format} needs the samples of a run, and ${gone} has lost them. Use bmf, openmetrics or markdown, which need only figures`,
    );
  }
}

/** Returns the record. Throws SamplesGoneError if there is none. */
export function recordOf({ record, file, gone }: ExportSource, format: string): RunRecord {
  if (record === undefined) throw new SamplesGoneError(format, file, gone);
  return record;
}

/** Returns the measured cells of a run without those that only measure a mechanism again. */
export function measuredCells(results: Results): ResultCell[] {
  return results.cells.filter(({ status, params }) => status === "ok" && params["control"] === undefined);
}

/** Returns the cells of a record that have a round, without those that only measure a mechanism again. */
export function recordedCells(record: RunRecord): RecordedCell[] {
  return record.cells.filter((cell) => !cell.control && cell.rounds.length > 0);
}

type Named = Pick<ResultCell, "host" | "scenario" | "mechanism"> & { params: Params };

/** Returns the name of a cell in an export: `node/stream/clearway-ring[perSecond=1000,count=200]`. */
export function exportedName({ host, scenario, mechanism, params }: Named): string {
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return `${host}/${scenario}/${mechanism}${written.length === 0 ? "" : `[${written.join(",")}]`}`;
}
