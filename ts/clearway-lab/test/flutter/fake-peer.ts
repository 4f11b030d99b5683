// SPDX-License-Identifier: MIT OR Apache-2.0
// Programs in the place of the engine's and of Xvfb, which fail as these may.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), "clearway-fake-peer-"));
  #count = 0;

  /** Writes a program in JavaScript (CommonJS) and returns its path. */
  program(code: string): string {
    const file = join(this.folder, `program-${this.#count++}.cjs`);
    writeFileSync(file, `#!${process.execPath}\n${code}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Code that calls `answer(request, send)` for each request. `send(status, text)` writes an answer. */
export const answering = (body: string): string => `
const { readSync, writeSync } = require("node:fs");
function read(size) {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const got = readSync(0, bytes, at, size - at);
    if (got === 0) process.exit(0);
    at += got;
  }
  return bytes;
}
function send(status, text) {
  const parts = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32LE(parts.length + 1);
  head[4] = status;
  writeSync(1, Buffer.concat([head, parts]));
}
for (;;) {
  const request = read(read(4).readUInt32LE(0)).toString("latin1");
  ${body}
}`;

/** Whether a process with this number exists, also as a zombie. */
export function exists(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
