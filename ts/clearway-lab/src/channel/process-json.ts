// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON lines over the stdin and stdout of a child process, a common way to talk to one. Bytes are sent as base64.
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Caller } from "./caller.js";
import { plainValue } from "./payload.js";
import { PendingCalls } from "./pending-calls.js";
import type { ProcessKind } from "./process.js";

interface Line {
  id: number;
  value?: unknown;
  base64?: string;
  method?: string;
}

function lines(input: Readable, output: Writable, receive: (line: Line) => void): (line: Line) => void {
  createInterface({ input }).on("line", (text) => receive(JSON.parse(text) as Line));
  return (line) => void output.write(`${JSON.stringify(line)}\n`);
}

const written = (value: unknown): Pick<Line, "value" | "base64"> =>
  value instanceof Uint8Array
    ? { base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") }
    : { value };
const read = ({ value, base64 }: Line): unknown =>
  base64 === undefined ? value : new Uint8Array(Buffer.from(base64, "base64"));

export const jsonStdioKind: ProcessKind = {
  open(child, params): Caller {
    const pending = new PendingCalls();
    // Node's pipes to a child process are sockets, and sockets count their bytes.
    const [output, input] = [child.stdin as Socket, child.stdout as Socket];
    const send = lines(input, output, (line) => pending.settle(line.id, read(line)));
    const { channel, codec } = params;
    return {
      call: (value) =>
        pending.call((id) => send({ id, ...(channel === "method" && { method: "test" }), ...written(value) })),
      ...(codec !== "binary" && { prepare: plainValue }),
      copiedBytes: () => output.bytesWritten + input.bytesRead,
      close: () => void output.destroy(),
    };
  },
  serve() {
    const send = lines(process.stdin, process.stdout, (line) => send({ id: line.id, ...written(read(line)) }));
  },
};
