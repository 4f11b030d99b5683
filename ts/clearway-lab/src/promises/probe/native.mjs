// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures one case of native-cases.mjs: its mechanisms in interleaved rounds. Also returns the
// bytes that the plugin's ledger counted for each mechanism.
import { loadPlugin } from "clearway-native";
import { shuffler } from "../../statistics/rounds.ts";
import { cases } from "../native-cases.mjs";

/** The number of uncounted rounds. They compile the called code and touch memory for the first time. */
const warmRounds = 3;

/**
 * Returns, by mechanism, the microseconds per operation of every round, and the bytes per operation in the plugin's ledger. The bytes of
 * both directions count as copied or as not copied (shared, lent or moved). `without` names peers that cannot run here, with the reason.
 */
export async function native({ name, files, rounds, seed }) {
  const { options, make } = cases[name];
  const plugin = await loadPlugin(files.plugin, options);
  const { mechanisms, without = {} } = make({ bareFile: files.bare, plugin });
  const names = Object.keys(mechanisms);
  const figures = Object.fromEntries(names.map((each) => [each, { us: [], copiedBytes: 0, uncopiedBytes: 0 }]));
  const shuffle = shuffler(seed);
  for (let round = -warmRounds; round < rounds; round++) {
    for (const each of shuffle(names)) {
      const { times, run } = mechanisms[each];
      const before = ledgerBytes(plugin);
      const us = await run(times);
      const after = ledgerBytes(plugin);
      if (round < 0) continue;
      const sums = figures[each];
      sums.us.push(us);
      sums.copiedBytes += after.copied - before.copied;
      sums.uncopiedBytes += after.uncopied - before.uncopied;
    }
  }
  for (const [each, sums] of Object.entries(figures)) {
    sums.copiedBytes /= mechanisms[each].times * rounds;
    sums.uncopiedBytes /= mechanisms[each].times * rounds;
  }
  await plugin.close();
  return { figures, without };
}

function ledgerBytes(plugin) {
  const { toNative, fromNative } = plugin.stats().ledger;
  return {
    copied: toNative.copiedBytes + fromNative.copiedBytes,
    uncopied: toNative.sharedBytes + toNative.movedBytes + fromNative.sharedBytes + fromNative.movedBytes,
  };
}
