// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node. Measures encoding and decoding of one message of about 2 KB with values of many types.
import { mixed } from "../../../../clearway/bench/codec/mixed.mjs";
import { shuffler } from "../../statistics/rounds.ts";
import { codecs } from "../mechanism/codecs.mjs";

/** Number of messages in a timed turn. A turn of about 5 ms is many clock steps long, but shorter than other work of the machine. */
const messagesPerTurn = 300;
const warmRounds = 10;

/** Returns, by codec, the microseconds per message of every round, the message's bytes, and the keys whose values change on the way. */
export function codec({ rounds, seed }) {
  const figures = {};
  const messages = {};
  for (const { name, encode, message = encode, decode } of codecs) {
    // Copies the message, because some encoders write the next message over the last one. A receiver has a copy, too.
    const encoded = message(mixed);
    messages[name] = ArrayBuffer.isView(encoded) ? Uint8Array.from(encoded) : encoded;
    const changed = Object.keys(mixed).filter((key) => textOf(decode(messages[name])[key]) !== textOf(mixed[key]));
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

/** The result of the last call. It is kept so that the compiler cannot remove calls as unused. */
export let lastResult;

function time(run, argument) {
  const begun = process.hrtime.bigint();
  for (let at = 0; at < messagesPerTurn; at++) lastResult = run(argument);
  return Number(process.hrtime.bigint() - begun) / 1e3 / messagesPerTurn;
}

/** Returns a value as text, with the types of its lists. A Buffer is shown as a Uint8Array. */
function textOf(value) {
  return JSON.stringify(value, (_, each) =>
    ArrayBuffer.isView(each) ? [each instanceof Uint8Array ? "Uint8Array" : each.constructor.name, ...each] : each,
  );
}
