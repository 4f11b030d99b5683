// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures frames of native memory at a given rate: lost frames, the bytes that Clearway's ledger
// counts, and the stalls that Clearway's meter finds.
import { measure } from "clearway/meter";
import { loadPlugin } from "clearway-native";

/** Minimum length of a stall that the meter records, in milliseconds. A run without stalls is reported with this length. */
const floorMs = 1;

/**
 * Receives `seconds` of frames from the plugin in `file`. Reads the number in each frame and releases the frame at once. If the ledger
 * counted fewer bytes than arrived, rejects with an Error, because a zero in the ledger would then be meaningless.
 */
export async function frames({ file, seconds, warmSeconds, bytes, perSecond }) {
  const plugin = await loadPlugin(file);
  const count = Math.round(perSecond * seconds);
  const every = Math.round(1e6 / perSecond);
  let came = 0;
  let next = 0;
  let lost = 0;
  const receiveFrames = async (framesWanted) => {
    const streamArguments = new Uint8Array(Uint32Array.of(framesWanted, bytes, every).buffer);
    came = next = lost = 0;
    for await (const frame of plugin.channel("ticks").listen({ arguments: streamArguments, items: 4 })) {
      const number = new DataView(frame.bytes.buffer, frame.bytes.byteOffset).getUint32(0, true);
      lost += number - next;
      next = number + 1;
      came++;
      frame.release();
    }
    lost += framesWanted - next;
  };
  // The warm-up includes the compilation and the memory mapping that the first frame causes. It also includes two garbage collections of 2
  // to 5 ms. V8 runs them in any process 8 s after the start of a worker, here of the meter's own. The stalls of the warm-up are reported
  // separately.
  const options = { floorMs, stacks: false };
  const warm = await measure(() => receiveFrames(Math.round(perSecond * warmSeconds)), options);
  const before = plugin.stats().ledger.fromNative;
  const { report } = await measure(() => receiveFrames(count), options);
  const { ledger, leaked } = plugin.stats();
  const delta = (name) => ledger.fromNative[name] - before[name];
  const [copiedBytes, uncopiedBytes] = [delta("copiedBytes"), delta("sharedBytes") + delta("movedBytes")];
  await plugin.close();
  if (copiedBytes + uncopiedBytes < came * bytes)
    throw new Error(`the ledger counted too little: bytes=${copiedBytes + uncopiedBytes} of ${came * bytes}`);
  const ownStalls = ({ stalls }) => stalls.filter(({ cause }) => cause !== "machine");
  const longest = (stalls) => stalls.reduce((most, { lengthMs }) => Math.max(most, lengthMs), floorMs);
  return {
    asked: count,
    came,
    lost,
    copiedBytes,
    leaked,
    stallMs: longest(ownStalls(report)),
    warmStallMs: longest(ownStalls(warm.report)),
    anyStallMs: longest(report.stalls),
    causes: report.causes.map(({ cause, stalls }) => `${stalls} ${cause}`),
  };
}
