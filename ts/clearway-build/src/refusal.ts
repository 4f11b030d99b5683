// SPDX-License-Identifier: MIT OR Apache-2.0

/** A place in a source file. Lines count from 1, columns from 0. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
  /** The text of the line. */
  readonly text: string;
}

/** What an offloaded function may not do, where it does that, and what to do instead. */
export interface Refusal {
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** A refusal with its place in the file. */
export interface PlacedRefusal extends SourcePlace {
  readonly message: string;
  /** The lines around the place, with a mark below it. */
  readonly frame: string;
  /** Number of characters that the mark covers, within the line. */
  readonly length: number;
}

/** Returns the place of an offset in a text. */
export function placeOf(code: string, offset: number): SourcePlace {
  const before = code.slice(0, offset).split("\n");
  const column = before.at(-1)?.length ?? 0;
  return { line: before.length, column, text: code.split("\n")[before.length - 1] ?? "" };
}

/** Adds the place and the code frame to a refusal. */
export function placed(code: string, { message, start, end }: Refusal): PlacedRefusal {
  const place = placeOf(code, start);
  const length = Math.max(1, Math.min(end - start, place.text.length - place.column));
  return { ...place, message, length, frame: frameOf(code, place, length) };
}

/** Thrown for a file with functions that cannot move to a worker. */
export class OffloadRefused extends Error {
  override readonly name = "OffloadRefused";
  readonly file: string;
  readonly refusals: readonly [PlacedRefusal, ...PlacedRefusal[]];

  constructor(file: string, refusals: readonly [PlacedRefusal, ...PlacedRefusal[]]) {
    super(refusals.map(({ message, line, column }) => `${file}:${line}:${column + 1}: ${message}`).join("\n"));
    this.file = file;
    this.refusals = refusals;
  }
}

const linesAround = 2;

function frameOf(code: string, { line, column }: SourcePlace, length: number): string {
  const lines = code.split("\n");
  const first = Math.max(1, line - linesAround);
  const last = Math.min(lines.length, line + linesAround);
  const width = String(last).length;
  const frame: string[] = [];
  for (let at = first; at <= last; at++) {
    const text = lines[at - 1]?.replace(/\r$/, "") ?? "";
    frame.push(`${String(at).padStart(width)} | ${text}`.trimEnd());
    // Tabs stay tabs, so that the mark is below its text.
    const indent = text.slice(0, column).replace(/[^\t]/g, " ");
    if (at === line) frame.push(`${" ".repeat(width)} | ${indent}${"^".repeat(length)}`);
  }
  return frame.join("\n");
}
