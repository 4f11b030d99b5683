// SPDX-License-Identifier: MIT OR Apache-2.0
// Measured in Node: encoding plus decoding of one message of about 2 KB with every supported type.
import { mixed } from "../../ts/clearway/bench/codec/mixed.mjs";
import { shuffler } from "../statistics.mjs";
import { codecs } from "../subject/codecs.mjs";

/** About 5 ms a turn: many times what the clock can tell, and short beside what else a machine does. */
const times = 300;
const warmRounds = 10;

/** By codec: microseconds a message of every round, how many bytes, and which keys come back as something else. */
export function codec({ rounds, seed }) {
  const figures = {};
  const messages = {};
  for (const { name, encode, message = encode, decode } of codecs) {
    // Memory of its own, as it would be on the other side: some encoders write the next message over the last.
    const made = message(mixed);
    messages[name] = ArrayBuffer.isView(made) ? Uint8Array.from(made) : made;
    const changed = Object.keys(mixed).filter((key) => shown(decode(messages[name])[key]) !== shown(mixed[key]));
    figures[name] = { us: [], changed, bytes: messages[name].byteLength };
  }
  const shuffle = shuffler(seed);
  for (let round = -warmRounds; round < rounds; round++) {
    for (const { name, encode, decode } of shuffle(codecs)) {
      const us = (encode ? time(encode, mixed) : 0) + time(decode, messages[name]);
      if (round >= 0) figures[name].us.push(us);
    }
  }
  return figures;
}

/** What the last call gave, so that none can be left out as unused. */
export let kept;

function time(run, argument) {
  const begun = process.hrtime.bigint();
  for (let at = 0; at < times; at++) kept = run(argument);
  return Number(process.hrtime.bigint() - begun) / 1e3 / times;
}

/** A value as text, with the type of its lists. A Buffer is a Uint8Array, too. */
function shown(value) {
  return JSON.stringify(value, (_, each) =>
    ArrayBuffer.isView(each) ? [each instanceof Uint8Array ? "Uint8Array" : each.constructor.name, ...each] : each,
  );
}
