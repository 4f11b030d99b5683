// SPDX-License-Identifier: MIT OR Apache-2.0
// The work of job 3, the same in every implementation ("way"). It sends a file in chunks, each with its CRC-32, and reports progress.

import { Stopwatch, type Timed } from "./steps.js";

export interface Progress {
  sentBytes: number;
  totalBytes: number;
}

export interface Receipt {
  receivedBytes: number;
  chunks: number;
}

const chunkBytes = 32 * 1024 * 1024;

export async function uploadInChunks(
  file: Blob,
  url: string,
  onProgress: (progress: Progress) => void,
  signal?: AbortSignal,
): Promise<Timed<Receipt>> {
  const watch = new Stopwatch();
  let chunks = 0;
  for (let start = 0; start < file.size; start += chunkBytes) {
    const chunk = file.slice(start, start + chunkBytes);
    const bytes = new Uint8Array(await chunk.arrayBuffer());
    watch.lap("reading the file");
    const check = crc32(bytes).toString(16);
    watch.lap("calculating checksums");
    const response = await fetch(url, {
      method: "POST",
      headers: { "x-crc32": check },
      // Passes the slice, not the bytes. The browser sends it from its own storage, without another copy on this thread.
      body: chunk,
      signal: signal ?? null,
    });
    if (!response.ok) throw new Error(`chunk ${chunks} was refused: ${await response.text()}`);
    chunks++;
    watch.lap("sending");
    onProgress({ sentBytes: start + bytes.length, totalBytes: file.size });
  }
  return { value: { receivedBytes: file.size, chunks }, steps: watch.steps };
}

/** Returns the reflected CRC-32 (polynomial 0xEDB88320), as in zlib. Calculates it byte by byte. */
function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = table[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
