// SPDX-License-Identifier: MIT OR Apache-2.0
// The runner's side of the protocol. It reads requests one at a time, answers each, and ends when the requests end. Without a channel,
// requests come from stdin and answers go to stdout. Then only the protocol writes to stdout, so console.log prints to stderr instead.
import type { Duplex, Writable } from "node:stream";
import { readLines } from "./lines.js";
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

export interface RunnerOperations {
  describe(): Promise<Description>;
  verify(cell: CellRequest): Promise<Verification>;
  measure(cell: CellRequest): Promise<Measurement>;
  probe(probe: ProbeRequest): Promise<Json>;
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
  if (request.op === "probe") return operations.probe(request.probe);
  throw new RangeError(
    `unknown operation: op=${JSON.stringify((request as { op?: unknown }).op)} (describe, verify, measure, probe)`,
  );
}
