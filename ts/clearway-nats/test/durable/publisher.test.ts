// SPDX-License-Identifier: MIT OR Apache-2.0
import { InvalidArgumentError } from "@nats-io/transport-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Publisher } from "../../src/durable/publisher.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";

beforeEach(() => {
  useFakeTimers();
});
afterEach(() => {
  useRealTimers();
});

const { setImmediate } = globalThis;

/** Moves the clock. Messages that have arrived are read before the publisher looks at what is late. */
async function passed(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

const body = Uint8Array.of(1);
const settings = { outstandingMax: 2, outstandingBytesMax: 1_000, resendMs: 1_000 };

function setup() {
  const connection = new FakeConnection();
  const publisher = new Publisher(connection.nats, settings);
  return { connection, publisher };
}

const confirm = (connection: FakeConnection, reply: string | undefined, seq: number): void =>
  connection.deliver(reply!, { body: JSON.stringify({ stream: "S", seq }) });

describe("the publisher", () => {
  test("resolves with the place of a message when the servers confirm it", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body);
    const reply = connection.take()[0]!.reply!;
    connection.deliver(reply, { body: JSON.stringify({ stream: "S", seq: 9, duplicate: true }) });
    await expect(stored).resolves.toEqual({ stream: "S", seq: 9, duplicate: true, resent: false });
    expect(publisher.unconfirmed).toBe(0);
  });

  test("has a bounded number of unconfirmed messages and keeps their order", async () => {
    const { connection, publisher } = setup();
    const all = ["a", "b", "c", "d"].map((subject) => publisher.publish(subject, body));
    const first = connection.take();
    expect(first.map(({ subject }) => subject)).toEqual(["a", "b"]);
    expect(publisher.unconfirmed).toBe(4);
    confirm(connection, first[1]!.reply, 2);
    expect(connection.published.map(({ subject }) => subject)).toEqual(["c"]);
    for (const { reply } of [first[0]!, ...connection.take()]) confirm(connection, reply, 1);
    for (const { reply } of connection.take()) confirm(connection, reply, 4);
    await expect(Promise.all(all)).resolves.toHaveLength(4);
  });

  test("has a bounded number of unconfirmed bytes, and sends a larger message alone", () => {
    const { connection, publisher } = setup();
    for (const bytes of [2_000, 1]) void publisher.publish("a", new Uint8Array(bytes)).catch(() => {});
    const first = connection.take();
    expect(first.map((each) => each.body.length)).toEqual([2_000]);
    confirm(connection, first[0]!.reply, 1);
    expect(connection.take().map((each) => each.body.length)).toEqual([1]);
    publisher.end();
  });

  test("sends a message again when no confirmation comes, and settles once", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body);
    const [first] = connection.take();
    await passed(2_000);
    const again = connection.take();
    expect(again).toEqual([first]);
    expect(publisher.resent).toBe(1);
    confirm(connection, first!.reply, 1);
    confirm(connection, first!.reply, 2);
    await expect(stored).resolves.toMatchObject({ seq: 1, resent: true });
  });

  test("does not send a message again whose confirmation has arrived, although this thread was blocked", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body, { resendMsMax: 1_500 });
    const [first] = connection.take();
    vi.advanceTimersByTime(2_000);
    confirm(connection, first!.reply, 1);
    await passed(0);
    expect(connection.take()).toEqual([]);
    await expect(stored).resolves.toMatchObject({ seq: 1 });
    publisher.end();
  });

  test("does not send a message again before a whole period is over", async () => {
    const { connection, publisher } = setup();
    await passed(999);
    void publisher.publish("a", body).catch(() => {});
    connection.take();
    await passed(1);
    expect(connection.take()).toEqual([]);
    await passed(1_000);
    expect(connection.take()).toHaveLength(1);
    publisher.end();
  });

  test("sends every unconfirmed message again at once when the connection is back", async () => {
    const { connection, publisher } = setup();
    void publisher.publish("a", body).catch(() => {});
    void publisher.publish("b", body).catch(() => {});
    const sent = connection.take();
    await connection.report("reconnect");
    expect(connection.take()).toEqual(sent);
    publisher.end();
  });

  test("does not send a message again when the servers may have forgotten its id, and says that it may be stored", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body, { resendMsMax: 2_500 });
    const refused = expect(stored).rejects.toMatchObject({ code: "transport-closed", message: /may be stored/ });
    await passed(2_000);
    expect(connection.take()).toHaveLength(2);
    await connection.report("disconnect");
    await passed(501);
    await connection.report("reconnect");
    await refused;
    expect(connection.take()).toEqual([]);
    expect(publisher.unconfirmed).toBe(0);
  });

  test("does not send a message again after a suspend of the machine in which the servers may have forgotten its id", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body, { resendMsMax: 2_500 });
    const refused = expect(stored).rejects.toMatchObject({ code: "transport-closed", message: /may be stored/ });
    expect(connection.take()).toHaveLength(1);
    // Only the date goes on.
    vi.setSystemTime(Date.now() + 2_501);
    await connection.report("disconnect");
    await connection.report("reconnect");
    expect(connection.take()).toEqual([]);
    await refused;
  });

  test("sends a message again although the date was set back", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body, { resendMsMax: 2_500 });
    const [first] = connection.take();
    vi.setSystemTime(Date.now() - 60_000);
    await passed(2_000);
    expect(connection.take()).toEqual([first]);
    confirm(connection, first!.reply, 1);
    await expect(stored).resolves.toMatchObject({ seq: 1 });
  });

  test("sends a message at any time that it had while there was no connection", async () => {
    const { connection, publisher } = setup();
    await connection.report("disconnect");
    const stored = publisher.publish("a", body, { resendMsMax: 2_500 });
    await passed(60_000);
    connection.take();
    await connection.report("reconnect");
    const [first] = connection.take();
    confirm(connection, first!.reply, 1);
    await expect(stored).resolves.toMatchObject({ seq: 1 });
  });

  test("waits when no stream answers or no leader is elected", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body);
    const reply = connection.take()[0]!.reply!;
    connection.deliver(reply, { code: 503 });
    connection.deliver(reply, { body: JSON.stringify({ error: { code: 503, err_code: 10008, description: "busy" } }) });
    expect(publisher.unconfirmed).toBe(1);
    confirm(connection, reply, 1);
    await expect(stored).resolves.toMatchObject({ seq: 1 });
  });

  test.each([
    [10077, "maximum messages exceeded", "queue-full"],
    [10077, "write msgs/1.blk: no space left on device", "queue-full"],
    [10077, "write msgs/1.blk: disk quota exceeded", "queue-full"],
    [10049, "mkdir streams/b: no space left on device", "queue-full"],
    [10104, "error creating store for consumer: mkdir obs/c: no space left on device", "queue-full"],
    [10012, "error creating store for consumer", "queue-full"],
    [10049, "error creating store for stream", "queue-full"],
    [10077, "write msgs/1.blk: input/output error", "queue-full"],
    [10077, "expected header not found", "protocol"],
  ])("rejects with the servers' refusal %i, %s: %s", async (number, description, code) => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body);
    const reply = connection.take()[0]!.reply!;
    connection.deliver(reply, { body: JSON.stringify({ error: { code: 503, err_code: number, description } }) });
    await expect(stored).rejects.toMatchObject({ name: "ClearwayError", code });
  });

  test("rejects with not-allowed what the user may not publish, and nothing else", async () => {
    const { connection, publisher } = setup();
    const refused = expect(publisher.publish("a", body)).rejects.toMatchObject({
      code: "not-allowed",
      message: /subject a/,
    });
    const stored = publisher.publish("b", body);
    const reply = connection.take()[1]!.reply!;
    await connection.refuse("a");
    await refused;
    confirm(connection, reply, 1);
    await expect(stored).resolves.toMatchObject({ seq: 1 });
  });

  test("rejects with too-large what is above the servers' limit, unless an earlier sending may be stored", async () => {
    const { connection, publisher } = setup();
    const earlier = expect(publisher.publish("a", body)).rejects.toMatchObject({ code: "transport-closed" });
    const cause = new InvalidArgumentError("'payload' max_payload size exceeded");
    vi.spyOn(connection.nats, "publish").mockImplementation(() => {
      throw cause;
    });
    await expect(publisher.publish("b", body)).rejects.toMatchObject({ code: "too-large", cause });
    await connection.report("reconnect");
    expect(publisher.unconfirmed).toBe(0);
    await earlier;
  });

  test("ignores an answer that is no confirmation", async () => {
    const { connection, publisher } = setup();
    const stored = publisher.publish("a", body);
    const reply = connection.take()[0]!.reply!;
    for (const answer of ["", "no json", "null", "{}", '{"stream":1,"seq":2}'])
      connection.deliver(reply, { body: answer });
    confirm(connection, reply, 3);
    await expect(stored).resolves.toMatchObject({ seq: 3 });
  });

  test("rejects everything when the connection ends, also what comes later", async () => {
    const { connection, publisher } = setup();
    const all = ["a", "b", "c"].map((subject) => publisher.publish(subject, body));
    const outcomes = Promise.allSettled(all);
    await connection.close(new Error("refused"));
    expect((await outcomes).map((each) => each.status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(publisher.publish("d", body)).rejects.toMatchObject({ code: "transport-closed" });
  });
});
