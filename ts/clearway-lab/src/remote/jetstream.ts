// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written work queue on JetStream: a call is a message of a stream with work-queue retention, and its result is a message of a second
// stream, stored before the call is acknowledged. No keys, no priorities, no deadlines, no dead letters. Node only.
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { PendingCalls } from "../channel/caller.js";
import type { RemoteKind, RemotePlace } from "./kind.js";

/** Bytes of the call's number, which precede the call's bytes and those of its result. */
const NUMBER_BYTES = 4;
/** Number of calls that a worker process takes at once. */
const BATCH = 500;
/** Time after which a result is deleted, in nanoseconds. */
const RESULT_AGE_NS = 60 * 1e9;

const names = ({ name }: RemotePlace) => ({
  calls: `${name}-calls`,
  results: `${name}-results`,
  callSubject: `${name}.call`,
  resultSubject: `${name}.result`,
  worker: "workers",
});

export const jetstreamKind: RemoteKind = {
  async prepare(place) {
    const { calls, results, callSubject, resultSubject, worker } = names(place);
    const connection = await connect({ servers: place.url });
    const manager = await jetstreamManager(connection);
    const file = { storage: StorageType.File };
    await manager.streams.add({ name: calls, subjects: [callSubject], retention: RetentionPolicy.Workqueue, ...file });
    await manager.streams.add({ name: results, subjects: [resultSubject], max_age: RESULT_AGE_NS, ...file });
    await manager.consumers.add(calls, {
      durable_name: worker,
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 10_000,
    });
    await connection.close();
  },
  async open(place) {
    const { results, callSubject } = names(place);
    const connection = await connect({ servers: place.url });
    const stream = jetstream(connection);
    const pending = new PendingCalls();
    const answers = await (await stream.consumers.get(results)).consume({
      max_messages: 2 * BATCH,
      callback: ({ data }) => pending.settle(numberOf(data), data.subarray(NUMBER_BYTES)),
    });
    return {
      async call(bytes) {
        let stored: Promise<unknown> | undefined;
        const answer = pending.call((id) => {
          stored = stream.publish(callSubject, numbered(id, bytes));
        });
        await stored;
        return (await answer) as Uint8Array;
      },
      async close() {
        await answers.close();
        await connection.close();
      },
    };
  },
  async serve(place) {
    const { calls, resultSubject, worker } = names(place);
    const connection = await connect({ servers: place.url });
    const stream = jetstream(connection);
    const consumer = await stream.consumers.get(calls, worker);
    await consumer.consume({
      max_messages: BATCH,
      callback: (message) => {
        // A result that cannot be stored leaves its call unacknowledged. JetStream then delivers the call again.
        stream.publish(resultSubject, message.data).then(
          () => message.ack(),
          () => message.nak(),
        );
      },
    });
    await connection.flush();
  },
};

function numbered(id: number, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(NUMBER_BYTES + bytes.length);
  new DataView(whole.buffer).setUint32(0, id);
  whole.set(bytes, NUMBER_BYTES);
  return whole;
}

function numberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}

// Bare request and reply of NATS: one subject, one queue group. The client has one inbox for all its requests. Node only.

/** A request without an answer after this time fails, in milliseconds. A lost one must not hang the measurement. */
const TIMEOUT_MS = 30_000;

export const natsRequestKind: RemoteKind = {
  async open({ url, name }) {
    const connection = await connect({ servers: url });
    return {
      call: async (bytes) => (await connection.request(`${name}.call`, bytes, { timeout: TIMEOUT_MS })).data,
      close: () => connection.close(),
    };
  },
  async serve({ url, name }) {
    const connection = await connect({ servers: url });
    connection.subscribe(`${name}.call`, {
      queue: "workers",
      callback: (error, message) => {
        if (error === null) message.respond(message.data);
      },
    });
    // The server has the subscription when it has answered this.
    await connection.flush();
  },
};
