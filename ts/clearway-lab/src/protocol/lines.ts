// SPDX-License-Identifier: MIT OR Apache-2.0
// The protocol's JSON lines: splits a byte stream at newlines and parses each line, and answers the requests of a runner.
import { Socket } from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import type {
  CellRequest,
  Description,
  Json,
  Measurement,
  ProbeRequest,
  Request,
  Response,
  Verification,
} from "./message.js";

/**
 * Maximum number of characters of a line. The largest honest answer, a measurement with raw samples, has about a million. A peer that
 * never ends its line would otherwise fill the memory.
 */
const LINE_CHARS_MAX = 16 << 20;

/** A line that is longer than its reader accepts. */
export class LineTooLongError extends Error {}

export class LineSplitter {
  readonly #charsMax: number;
  /** The parts of the unfinished line. They are joined once, because joining on each push would take quadratic time. */
  #parts: string[] = [];
  #chars = 0;

  constructor(charsMax = LINE_CHARS_MAX) {
    this.#charsMax = charsMax;
  }

  /** Returns the lines that `text` completes. Keeps the rest after the last newline. Throws `LineTooLongError`. */
  push(text: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#keep(text.slice(from, at));
      lines.push(...this.end());
      from = at + 1;
    }
    this.#keep(text.slice(from));
    return lines;
  }

  /** Returns the remaining text without a newline, after the stream has ended. */
  end(): string[] {
    const rest = this.#parts.join("");
    this.#parts = [];
    this.#chars = 0;
    return rest.trim() === "" ? [] : [rest];
  }

  #keep(part: string): void {
    this.#chars += part.length;
    if (this.#chars > this.#charsMax) {
      const shown = JSON.stringify([...this.#parts, part].join("").slice(0, 120));
      throw new LineTooLongError(`a line is longer than ${this.#charsMax} characters; it begins with ${shown}`);
    }
    if (part !== "") this.#parts.push(part);
  }
}

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new SyntaxError("not a JSON line: " + JSON.stringify(line.slice(0, 120)));
  }
}

/**
 * Yields the parsed lines of a stream in order, until the stream ends. Throws SyntaxError for a line that is not JSON, and
 * `LineTooLongError`.
 */
export async function* readLines(stream: Readable): AsyncGenerator<unknown> {
  const splitter = new LineSplitter();
  stream.setEncoding("utf8");
  for await (const text of stream) {
    for (const line of splitter.push(text as string)) yield parseLine(line);
  }
  for (const line of splitter.end()) yield parseLine(line);
}

// The protocol's own descriptor, for a runner that runs a user's code: the code and the processes that it starts use the standard streams.

/** The descriptor in the runner's process. Node does not pass it to the processes that the runner starts. */
export const CHANNEL_FD = 3;

/** Opens the channel in the runner's process. Both directions are JSON lines. */
export function openChannel(): Duplex {
  return new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
}

// The runner's side of the protocol. It reads requests one at a time, answers each, and ends when the requests end. Without a channel,
// requests come from stdin and answers go to stdout. Then only the protocol writes to stdout, so console.log prints to stderr instead.

export interface RunnerOperations {
  describe(): Promise<Description>;
  verify(cell: CellRequest): Promise<Verification>;
  measure(cell: CellRequest): Promise<Measurement>;
  /** Absent on a host without probes. */
  probe?(probe: ProbeRequest): Promise<Json>;
  close(): Promise<void>;
}

export async function serve(operations: RunnerOperations, channel?: Duplex): Promise<void> {
  if (channel === undefined) console.log = console.error;
  const output: Writable = channel ?? process.stdout;
  const answer = (response: Response) =>
    new Promise<void>((done) => output.write(JSON.stringify(response) + "\n", () => done()));
  for await (const line of readLines(channel ?? process.stdin)) {
    const request = line as Request;
    try {
      await answer({ id: request.id, ok: true, result: await perform(operations, request) });
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      await answer({ id: request.id, ok: false, error: stack === undefined ? { message } : { message, stack } });
    }
  }
  await operations.close();
}

async function perform(
  operations: RunnerOperations,
  request: Request,
): Promise<Description | Verification | Measurement | Json> {
  if (request.op === "describe") return operations.describe();
  if (request.op === "verify") return operations.verify(request.cell);
  if (request.op === "measure") return operations.measure(request.cell);
  if (request.op === "probe") {
    if (operations.probe !== undefined) return operations.probe(request.probe);
    throw new RangeError(`this host has no probes: probe=${request.probe.name}`);
  }
  throw new RangeError(
    `unknown operation: op=${JSON.stringify((request as { op?: unknown }).op)} (describe, verify, measure, probe)`,
  );
}
