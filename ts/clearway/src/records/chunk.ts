// SPDX-License-Identifier: MIT OR Apache-2.0
import { alignment, bufferCountAt, directoryAt, entryBytes, magic, magicAt, rowsAt } from "./layout.js";
import { gone, invalid } from "./refusal.js";
import { bufferCount, type Shape } from "./shape.js";
import { openChunk, readHeader } from "./vector/open.js";
import type { Vector } from "./vector/vector.js";

/** One block of a table's memory. Tables that are slices of one another share chunks. */
export class Chunk {
  readonly rows: number;
  readonly #shapes: readonly Shape[];
  #vectors: readonly Vector[] | undefined;

  /**
   * Takes the buffer over, copies nothing and looks at its header only: a table of 1526 chunks held its receiver for
   * 79 ms (cold, on a busy machine) where this opened the columns as well. Throws `protocol`, or `released`.
   */
  constructor(
    readonly data: ArrayBuffer,
    shapes: readonly Shape[],
    buffers: number = bufferCount(shapes),
  ) {
    if (data.byteLength === 0) throw gone();
    this.rows = readHeader(data, buffers);
    this.#shapes = shapes;
  }

  /**
   * The columns, opened when first asked for: O(columns). Throws `protocol` where the chunk does not hold such columns,
   * and `released` when the memory was moved away or released.
   */
  get vectors(): readonly Vector[] {
    if (this.data.byteLength === 0) throw gone();
    this.#vectors ??= openChunk(this.data, this.#shapes, this.rows);
    return this.#vectors;
  }

  /** Gives the memory up, whoever still has views of it: they are empty from here on. See {@link free}. */
  release(): void {
    if (this.data.byteLength > 0) free(this.data);
  }
}

let nowhere: MessagePort | undefined;

/** Frees the memory of a buffer at once. */
function free(data: ArrayBuffer & { transfer?(bytes: number): ArrayBuffer }): void {
  if (data.transfer) return void data.transfer(0);
  // Node 20 has no `transfer`. What is posted to nobody leaves its owner and is dropped. A clone would keep the memory until
  // the next collection, and for that V8 collects everything at once, which holds the thread: 6 ms in a stream of 100 M rows.
  if (nowhere === undefined) {
    nowhere = new MessageChannel().port1;
    nowhere.close();
  }
  nowhere.postMessage(data, [data]);
}

/** Lays buffers out as one chunk. Allocates its exact size and copies each buffer once. */
export function pack(rows: number, buffers: readonly Uint8Array[]): ArrayBuffer {
  const offsets: number[] = [];
  let end = aligned(directoryAt + buffers.length * entryBytes);
  for (const { length } of buffers) {
    offsets.push(end);
    end = aligned(end + length);
  }
  if (end > 0xffff_ffff) throw invalid("a chunk", "smaller than 4 GiB; use fewer rowsPerChunk", `${end} bytes`);
  const data = new ArrayBuffer(end);
  const header = new DataView(data);
  header.setUint32(magicAt, magic, true);
  header.setUint32(rowsAt, rows, true);
  header.setUint32(bufferCountAt, buffers.length, true);
  buffers.forEach((buffer, at) => {
    header.setUint32(directoryAt + at * entryBytes, offsets[at]!, true);
    header.setUint32(directoryAt + at * entryBytes + 4, buffer.length, true);
    new Uint8Array(data).set(buffer, offsets[at]);
  });
  return data;
}

function aligned(at: number): number {
  return Math.ceil(at / alignment) * alignment;
}
