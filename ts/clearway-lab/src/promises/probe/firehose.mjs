// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures small events from native code, at the highest rate that the credit allows.
import { loadPlugin } from "clearway-native";

/** Returns the events per second of every round, and the total number of lost events. */
export async function firehose({ file, count, rounds }) {
  const plugin = await loadPlugin(file);
  const streamArguments = new Uint8Array(Uint32Array.of(count, 16, 0).buffer);
  const perSecond = [];
  let lost = 0;
  for (let round = -1; round < rounds; round++) {
    const begin = performance.now();
    let next = 0;
    for await (const { bytes } of plugin.channel("ticks").listen({ arguments: streamArguments, items: 4096 })) {
      const number = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
      lost += number - next;
      next = number + 1;
    }
    lost += count - next;
    if (round >= 0) perSecond.push((count / (performance.now() - begin)) * 1000);
  }
  await plugin.close();
  return { perSecond, lost };
}
