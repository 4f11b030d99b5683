// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ConsumerInfo, StoredMsg } from "@nats-io/jetstream";
import { ClearwayError } from "clearway/remote";
import { describe, expect, onTestFinished, test } from "vitest";
import { confirmGoneCalls } from "../../src/durable/gone-call.js";
import { FakeConnection } from "../fixtures/fake-connection.js";

/** A queue with one partition, `key-0`, whose last delivered call has the place 7. */
async function setup({ unconfirmed = 1, pending = 1, inQueue = false } = {}) {
  const connection = new FakeConnection();
  const state = { pending, inQueue, problem: undefined as Error | undefined };
  const asked: string[] = [];
  const errors: unknown[] = [];
  const info = async (_stream: string, consumer: string): Promise<ConsumerInfo> => {
    asked.push(consumer);
    if (state.problem) throw state.problem;
    return { num_ack_pending: state.pending, delivered: { stream_seq: 7, consumer_seq: 3 } } as ConsumerInfo;
  };
  const getMessage = async (_stream: string, { seq }: { seq: number }) =>
    state.inQueue && seq === 7 ? ({} as StoredMsg) : null;
  const end = confirmGoneCalls({
    connection: connection.nats,
    manager: { consumers: { info }, streams: { getMessage } } as never,
    stream: "S",
    consumers: [
      { name: "normal", single: false, unconfirmed: 5 },
      { name: "key-0", single: true, unconfirmed },
    ],
    onError: (error) => errors.push(error),
  });
  onTestFinished(end);
  const reconnect = () => connection.report("reconnect");
  await connection.report("disconnect");
  return { connection, state, asked, errors, end, reconnect };
}

const confirmation = { subject: "$JS.ACK.S.key-0.1.7.3.0.0", body: new TextEncoder().encode("+ACK") };

describe("a call that the servers wait for", () => {
  test("is confirmed when it has left the queue", async () => {
    const { connection } = await setup();
    expect(connection.published).toMatchObject([confirmation]);
  });

  test("is confirmed when it has left the queue while the connection was lost", async () => {
    const { connection, asked, reconnect } = await setup({ unconfirmed: 0 });
    expect(asked).toEqual([]);
    await reconnect();
    expect(connection.published).toMatchObject([confirmation]);
  });

  test("is left alone while it is in the queue", async () => {
    const { connection, asked, reconnect } = await setup({ inQueue: true });
    await reconnect();
    expect(asked).toEqual(["key-0", "key-0"]);
    expect(connection.published).toEqual([]);
  });

  test("is not looked for when all calls are confirmed", async () => {
    const { connection } = await setup({ pending: 0 });
    expect(connection.published).toEqual([]);
  });
});

describe("an error while a call is looked for", () => {
  test("is reported, and the next connection looks again", async () => {
    const { connection, state, errors, reconnect } = await setup({ unconfirmed: 0 });
    state.problem = new ClearwayError("not-allowed", "no");
    await reconnect();
    expect(errors).toEqual([state.problem]);
    state.problem = undefined;
    await reconnect();
    expect(connection.published).toMatchObject([confirmation]);
  });

  test("is not reported after the end", async () => {
    const { asked, errors, end, reconnect } = await setup({ unconfirmed: 0 });
    end();
    await reconnect();
    expect(asked).toEqual([]);
    expect(errors).toEqual([]);
  });
});
