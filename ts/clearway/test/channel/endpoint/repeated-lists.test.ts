// SPDX-License-Identifier: MIT OR Apache-2.0
// One list that occurs many times in a value makes a message that is far larger than the value. A peer can send such a value in few bytes, as
// an attachment with many references, and a handler may return it.
import { describe, expect, test } from "vitest";
import { standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import type { WireName } from "../../../src/channel/wire/frame.js";
import { endpoints, rejection, transports } from "./pairs.js";

const frameBytesMax = 1 << 20;
const listBytes = 16_000;
// An attachment takes no memory here. A message has at most this number of them.
const attachmentsMax = 1024;

/** Returns a list with one array of bytes 10,000 times, and how many of them were read. */
function repeated(): { value: unknown[]; reads: () => number } {
  let reads = 0;
  const value = new Proxy(Array<unknown>(10_000).fill(new Uint8Array(listBytes)), {
    get(target, key, receiver) {
      if (typeof key === "string" && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  return { value, reads: () => reads };
}

async function pair(wire: WireName) {
  const made = await endpoints(transports["bytes"]!({ frameBytesMax }), { wire, onError: () => {} });
  return made;
}

describe.each(["clearway", "plain"] as const)("on the %s wire, a list that occurs 10,000 times", (wire) => {
  test.each(["result", "event", "argument", "details"])(
    "is refused as a part of the %s once its message is too large",
    async (place) => {
      const { a, b } = await pair(wire);
      const { value, reads } = repeated();
      b.methods("m", standardMethodCodec).handle({
        result: () => value,
        details: () => {
          throw new RemoteError("own", "with details", { details: value });
        },
      });
      b.events("e", standardMethodCodec).serve(async function* () {
        yield value;
      });
      const methods = a.methods("m", standardMethodCodec);
      const failure = (await rejection(
        place === "event"
          ? a.events("e", standardMethodCodec).listen().next()
          : methods.call(place, place === "argument" ? value : null),
      )) as { code: string; details?: unknown };
      if (place === "details") expect(failure).toMatchObject({ code: "own", details: null });
      else expect(failure.code).toBe("too-large");
      // The details are tried once alone, and once in the error.
      expect(reads()).toBeLessThan(2 * (attachmentsMax + frameBytesMax / listBytes + 2));
    },
  );
});
