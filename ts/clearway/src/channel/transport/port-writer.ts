// SPDX-License-Identifier: MIT OR Apache-2.0
import { isShared } from "./limits.js";
import { fillsBuffer, joined, movedBytesMin, Post, portMark, takesValues } from "./port-message.js";
import { TakenReport } from "./taken-report.js";

/** Writes the messages of one end of a port. They take along what would need messages of its own: requests for a report, and reports. */
export class PortWriter {
  /** Whether the next message of frames tells the other end that this end takes values. */
  announces = false;
  /** Whether the next message asks the receiver to report the bytes that it took. */
  asks = false;
  /** The bytes that this end took, which the next message reports. */
  readonly report: TakenReport;

  /** `flush` posts what waits. It is called if no message took a report along. */
  constructor(flush: () => void) {
    this.report = new TakenReport(flush);
  }

  /** Writes a message with the frames of a flat array (`value-frame.ts`). */
  values(flat: unknown[]): unknown[] {
    const message = [portMark, this.asks ? Post.valuesAsking : Post.values, flat, this.report.take()];
    this.asks = false;
    return message;
  }

  /** Writes a message of frames. Appends to `transfer` what must move with it. `moves` is false on a port that moves nothing. */
  frames(
    frames: readonly Uint8Array[],
    attachments: readonly Uint8Array[],
    moves: boolean,
    transfer: ArrayBuffer[],
  ): unknown[] {
    const lengths = frames.map(({ byteLength }) => byteLength);
    const all = frames.length === 1 ? (frames[0] as Uint8Array) : joined(frames);
    // Posting a view clones the view's whole buffer, which may hold other data.
    const bytes = fillsBuffer(all) ? all : all.slice();
    for (const { buffer } of attachments) if (!isShared(buffer)) transfer.push(buffer);
    if (moves && bytes.byteLength >= movedBytesMin) transfer.push(bytes.buffer as ArrayBuffer);
    const message: unknown[] = [portMark, this.asks ? Post.framesAsking : Post.frames, lengths, bytes];
    const report = this.report.take();
    const last = report > 0 ? 3 : this.announces ? 2 : attachments.length > 0 ? 1 : 0;
    if (last > 0) message.push(attachments.length > 0 ? attachments : undefined);
    if (last > 1) message.push(this.announces ? takesValues : undefined);
    if (last > 2) message.push(report);
    this.asks = false;
    this.announces = false;
    return message;
  }
}
