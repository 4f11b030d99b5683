// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Delivery, Puller } from "../../src/durable/puller.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";

beforeEach(() => {
  useFakeTimers();
});
afterEach(() => {
  useRealTimers();
});

function setup(capacity = 4, missing = async () => {}) {
  const connection = new FakeConnection();
  const held: { delivery: Delivery; release: () => void }[] = [];
  const puller = new Puller({
    connection: connection.nats,
    stream: "S",
    consumer: "normal",
    deliveredSeq: 10,
    pullMs: 5_000,
    capacity: () => capacity,
    missing,
    whenSure: (act) => act(),
    onDelivery: (delivery, release) => held.push({ delivery, release }),
  });
  const requests = (): { batch: number; reply: string }[] =>
    connection
      .take()
      .filter(({ subject }) => subject === "$JS.API.CONSUMER.MSG.NEXT.S.normal")
      .map(({ body, reply }) => ({ batch: (JSON.parse(body as string) as { batch: number }).batch, reply: reply! }));
  let lastSeq = 10;
  const call = (reply: string, deliveries = 1, seq = ++lastSeq): void =>
    connection.deliver(reply, {
      subject: "clearway.m.0.do.normal",
      reply: `$JS.ACK.S.normal.${deliveries}.${seq}.1.1.0`,
    });
  return { connection, held, puller, requests, call };
}

describe("the puller", () => {
  test("asks for as many calls as there is room for", () => {
    expect(setup().requests()).toMatchObject([{ batch: 4 }]);
  });

  test("asks again when half of the room is free, and never for more than the room", () => {
    const { requests, held, call } = setup();
    const { reply } = requests()[0]!;
    for (let each = 0; each < 4; each++) call(reply);
    expect(held).toHaveLength(4);
    expect(requests()).toEqual([]);
    held[0]!.release();
    expect(requests()).toMatchObject([{ batch: 1 }]);
    held[1]!.release();
    // One call is requested and two are held, so half of the room is not free.
    expect(requests()).toEqual([]);
    held[2]!.release();
    expect(requests()).toMatchObject([{ batch: 2 }]);
  });

  test("counts a release once", () => {
    const { requests, held, call } = setup(1);
    const { reply } = requests()[0]!;
    call(reply);
    held[0]!.release();
    held[0]!.release();
    expect(requests()).toHaveLength(1);
  });

  test("asks again when the time of a request is over", () => {
    const { connection, requests } = setup();
    const { reply } = requests()[0]!;
    connection.deliver(reply, { code: 408 });
    expect(requests()).toMatchObject([{ batch: 4 }]);
  });

  test("looks whether the consumer is there when a request has no answer, and asks again", async () => {
    let looks = 0;
    const { requests } = setup(4, async () => void looks++);
    requests();
    await vi.advanceTimersByTimeAsync(6_001);
    expect(looks).toBe(1);
    expect(requests()).toMatchObject([{ batch: 4 }]);
  });

  test("looks whether the consumer is there when it cannot be asked, and asks again", async () => {
    let looks = 0;
    const { connection, requests } = setup(4, async () => void looks++);
    const { reply } = requests()[0]!;
    connection.deliver(reply, { code: 503 });
    expect(requests()).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    expect(looks).toBe(1);
    expect(requests()).toMatchObject([{ batch: 4 }]);
  });

  test("sends nothing more for a call whose stream the servers have lost", () => {
    const { connection, held, puller, requests, call } = setup();
    call(requests()[0]!.reply);
    puller.abandon();
    const { delivery } = held[0]!;
    delivery.ack();
    delivery.giveBack(0);
    expect(delivery.lost).toBe(true);
    expect(connection.take()).toEqual([]);
  });

  test("ignores a sign of life, and a status of a request that has ended", () => {
    const { connection, requests } = setup();
    const { reply } = requests()[0]!;
    connection.deliver(reply, { code: 100 });
    connection.deliver(reply, { code: 408 });
    requests();
    connection.deliver(reply, { code: 408 });
    expect(requests()).toEqual([]);
  });

  test("asks again at once when the connection is back", async () => {
    const { connection, requests } = setup();
    requests();
    await connection.report("reconnect");
    expect(requests()).toMatchObject([{ batch: 4 }]);
  });

  test("gives back a call that comes after its stop", () => {
    const { connection, held, puller, requests, call } = setup();
    const { reply } = requests()[0]!;
    puller.stop();
    call(reply);
    expect(held).toEqual([]);
    const [answer] = connection.take();
    expect(answer!.subject).toBe("$JS.ACK.S.normal.1.11.1.1.0");
    expect(new TextDecoder().decode(answer!.body as Uint8Array)).toBe("-NAK");
  });

  test("knows a call that was delivered before, whatever number the servers say", () => {
    const { requests, held, call } = setup(8);
    const { reply } = requests()[0]!;
    for (const [deliveries, seq] of [
      [1, 10],
      [1, 12],
      [1, 12],
      [3, 12],
      [1, 11],
      [1, 13],
    ] as const)
      call(reply, deliveries, seq);
    expect(held.map(({ delivery }) => delivery.again)).toEqual([true, false, true, true, true, false]);
  });

  test("reads the number of deliveries from both forms of the reply subject", () => {
    const { connection, held, requests, call } = setup();
    const { reply } = requests()[0]!;
    call(reply, 3);
    connection.deliver(reply, {
      subject: "clearway.m.0.do.normal",
      reply: "$JS.ACK.domain.account.S.normal.7.1.1.1.0.token",
    });
    expect(held.map(({ delivery }) => delivery.deliveries)).toEqual([3, 7]);
  });

  test("answers the servers with JetStream's own words", () => {
    const { connection, held, requests, call } = setup();
    const { reply } = requests()[0]!;
    call(reply);
    const { delivery } = held[0]!;
    delivery.working();
    delivery.giveBack(100);
    delivery.ack();
    delivery.discard();
    const words = connection.take().map(({ body }) => new TextDecoder().decode(body as Uint8Array));
    expect(words).toEqual(["+WPI", '-NAK {"delay":100000000}', "+ACK", "+TERM"]);
  });
});
