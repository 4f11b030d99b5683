// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway/remote";
import { expect, test } from "vitest";
import { wireCodec } from "../../src/wire/call.js";
import { Conversation } from "../../src/wire/conversation.js";
import type { Charge } from "../../src/wire/parts.js";
import { Op } from "../../src/wire/protocol.js";
import fc from "../fixtures/fast-check.js";

const codec = wireCodec();
const payloadMax = 1_000;

/** Two ends of a call, whose messages wait until `deliver()`. */
class Ends {
  readonly inFlight: { to: Conversation; bytes: Uint8Array }[] = [];
  readonly received: unknown[] = [];
  charged = 0;
  most = 0;
  readonly left: Conversation;
  readonly right: Conversation;

  constructor(messageBytesMax = 1e9) {
    const charge: Charge = {
      take: (bytes) => {
        this.charged += bytes;
      },
      give: (bytes) => {
        this.charged -= bytes;
      },
    };
    const end = (other: () => Conversation): Conversation =>
      new Conversation({
        codec,
        payloadMax,
        messageBytesMax,
        charge,
        begun: true,
        post: (bytes) => {
          this.most = Math.max(this.most, bytes.length);
          this.inFlight.push({ to: other(), bytes });
        },
      });
    this.left = end(() => this.right);
    this.right = end(() => this.left);
  }

  deliver(): void {
    for (let next = this.inFlight.shift(); next; next = this.inFlight.shift()) {
      const received = next.to.receive(next.bytes);
      if (received) this.received.push(received.message[1]);
    }
  }
}

test("messages of any size arrive whole and in order, in messages that NATS allows", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 8 }), (sizes) => {
      const ends = new Ends();
      const values = sizes.map((size, at) => new Uint8Array(size).fill(at));
      for (const value of values) ends.left.send(codec.encode([Op.result, value]));
      ends.deliver();
      expect(ends.received.length).toBe(values.length);
      for (const [at, value] of values.entries())
        expect(Buffer.compare(ends.received[at] as Uint8Array, value)).toBe(0);
      expect(ends.most).toBeLessThanOrEqual(payloadMax);
      expect(ends.charged).toBe(0);
      expect(ends.left.waits).toBe(false);
    }),
  );
});

test("large messages cross in both directions at once", () => {
  const ends = new Ends();
  ends.left.send(codec.encode([Op.result, new Uint8Array(10_000)]));
  ends.right.send(codec.encode([Op.result, new Uint8Array(20_000)]));
  ends.deliver();
  expect(ends.received).toHaveLength(2);
});

test("a message of megabytes is sent no faster than its reader grants", () => {
  const ends = new Ends();
  ends.left.send(codec.encode([Op.result, new Uint8Array(5_000_000)]));
  const [announcement] = ends.inFlight.splice(0);
  expect(ends.inFlight).toHaveLength(0);
  ends.right.receive(announcement!.bytes);
  const [grant] = ends.inFlight.splice(0);
  ends.left.receive(grant!.bytes);
  const bytes = ends.inFlight.reduce((sum, each) => sum + each.bytes.length, 0);
  expect(bytes).toBeGreaterThan(900_000);
  expect(bytes).toBeLessThan(1_200_000);
});

test.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "9", null])(
  "credit of %s bytes is refused, and no part is sent for it",
  (more) => {
    const ends = new Ends();
    ends.left.send(codec.encode([Op.result, new Uint8Array(10_000)]));
    ends.inFlight.splice(0);
    expect(() => ends.left.receive(codec.encode([Op.more, more]))).toThrow(ClearwayError);
    expect(ends.inFlight).toHaveLength(0);
  },
);

test("the bytes of a message that does not arrive are returned when its call ends", () => {
  const ends = new Ends();
  ends.left.send(codec.encode([Op.result, new Uint8Array(10_000)]));
  ends.right.receive(ends.inFlight.shift()!.bytes);
  expect(ends.charged).toBeGreaterThan(10_000);
  ends.right.drop();
  expect(ends.charged).toBe(0);
});

test("a conversation throws only typed errors, for any messages", () => {
  const field = fc.oneof(fc.integer(), fc.double(), fc.uint8Array({ maxLength: 50 }), fc.string(), fc.constant(null));
  const message = fc.tuple(fc.integer({ min: 0, max: 22 }), fc.array(field, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
      const ends = new Ends(100);
      ends.right.send(codec.encode([Op.result, new Uint8Array(10_000)]));
      for (const [op, fields] of messages) {
        try {
          ends.right.receive(codec.encode([op, ...fields]));
        } catch (reason) {
          expect(reason).toBeInstanceOf(ClearwayError);
        }
      }
      expect(ends.charged).toBeLessThanOrEqual(100);
      ends.right.drop();
      expect(ends.charged).toBe(0);
    }),
    { numRuns: 1_000 },
  );
});
