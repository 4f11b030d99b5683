// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON lines: splits a byte stream at newlines and parses each line. The error for a bad line shows its beginning.
import type { Readable } from "node:stream";

export class LineSplitter {
  #rest = "";

  /** Returns the lines that `text` completes. Keeps the rest after the last newline. */
  push(text: string): string[] {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop() ?? "";
    return parts.filter((line) => line.trim() !== "");
  }

  /** Returns the remaining text without a newline, after the stream has ended. */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest.trim() === "" ? [] : [rest];
  }
}

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new SyntaxError("not a JSON line: " + JSON.stringify(line.slice(0, 120)));
  }
}

/** Yields the parsed lines of a stream in order, until the stream ends. Throws SyntaxError for a line that is not JSON. */
export async function* readLines(stream: Readable): AsyncGenerator<unknown> {
  const splitter = new LineSplitter();
  stream.setEncoding("utf8");
  for await (const text of stream) {
    for (const line of splitter.push(text as string)) yield parseLine(line);
  }
  for (const line of splitter.end()) yield parseLine(line);
}
