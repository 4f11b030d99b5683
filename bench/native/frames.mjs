// SPDX-License-Identifier: MIT OR Apache-2.0
// Streams from native code: 60 frames of 8 MB a second, and a firehose of small events.
import { watch } from "clearway/meter";

const told = (...numbers) => new Uint8Array(Uint32Array.of(...numbers).buffer);

/** Frames of 8 MB, 60 a second: how many came, whether one was lost or copied, and the longest stall. */
export async function frames(plugin, seconds) {
  const before = plugin.stats().ledger.fromNative;
  const count = Math.round(60 * seconds);
  const meter = watch();
  let came = 0;
  let next = 0;
  let lost = 0;
  for await (const frame of plugin.channel("ticks").listen({ arguments: told(count, 8 << 20, 16_667), items: 4 })) {
    const number = new DataView(frame.bytes.buffer, frame.bytes.byteOffset).getUint32(0, true);
    lost += number - next;
    next = number + 1;
    came++;
    frame.release();
  }
  const report = meter.report();
  meter.stop();
  const after = plugin.stats();
  return {
    came,
    lost: lost + count - next,
    copiedBytes: after.ledger.fromNative.copiedBytes - before.copiedBytes,
    leaked: after.leaked,
    longestStallMs: report.longestMs,
  };
}

/** So many events of 16 bytes, as fast as there is credit. */
export async function firehose(plugin, count) {
  const begun = performance.now();
  let next = 0;
  let lost = 0;
  for await (const event of plugin.channel("ticks").listen({ arguments: told(count, 16, 0), items: 4096 })) {
    const bytes = event.bytes;
    const number = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
    lost += number - next;
    next = number + 1;
  }
  const seconds = (performance.now() - begun) / 1000;
  return { events: next, lost: lost + count - next, perSecond: Math.round(count / seconds) };
}
