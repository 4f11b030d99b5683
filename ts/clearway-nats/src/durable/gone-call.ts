// SPDX-License-Identifier: MIT OR Apache-2.0
import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { persistently, watchConnection } from "./connection.js";
import type { QueueConsumer } from "./streams.js";

const ackBody = new TextEncoder().encode("+ACK");

/** What {@link confirmGoneCalls} needs. */
export interface GoneCallParts {
  readonly connection: NatsConnection;
  readonly manager: Pick<JetStreamManager, "consumers" | "streams">;
  /** The stream of the queue. */
  readonly stream: string;
  readonly consumers: readonly Pick<QueueConsumer, "name" | "single" | "unconfirmed">[];
  readonly onError: (error: unknown) => void;
}

/**
 * Confirms calls that have left the queue, for the servers. Does so now and whenever the connection is made again. Returns a function that
 * ends this.
 *
 * nats-server 2.9.10 stores the confirmation of a call and the state of its consumer at different times. If it is killed in between, it then
 * waits for the confirmation of a call that the queue does not have any more. A partition has at most one unconfirmed call, so its other calls
 * wait, too. A confirmation ends that. It can lose nothing, because it names the place of a call that is gone.
 */
export function confirmGoneCalls({ connection, manager, stream, consumers, onError }: GoneCallParts): () => void {
  const partitions = consumers.filter(({ single }) => single);
  let ended = false;
  // Number of the newest round. An older one is over, because its connection was lost.
  let newest = 0;

  const confirm = async (consumer: string): Promise<void> => {
    const info = await persistently(connection, () => manager.consumers.info(stream, consumer));
    if (info.num_ack_pending === 0) return;
    const { stream_seq: seq, consumer_seq: number } = info.delivered;
    if ((await persistently(connection, () => manager.streams.getMessage(stream, { seq }))) !== null) return;
    // `$JS.ACK.<stream>.<consumer>.<deliveries>.<place in the stream>.<place in the consumer>.<time>.<calls left>`: the servers read the places.
    connection.publish(`$JS.ACK.${stream}.${consumer}.1.${seq}.${number}.0.0`, ackBody);
  };
  // One consumer after the other: many worker processes may do this at the same time.
  const round = async (names: readonly string[]): Promise<void> => {
    const own = ++newest;
    for (const name of names) {
      if (ended || own !== newest) return;
      try {
        await confirm(name);
      } catch (reason) {
        if (!ended && !connection.isClosed()) onError(reason);
      }
    }
  };

  const unwatch = watchConnection(connection, {
    reconnected: () => void round(partitions.map(({ name }) => name)),
    closed: () => end(),
  });
  const end = (): void => {
    ended = true;
    unwatch();
  };
  void round(partitions.filter(({ unconfirmed }) => unconfirmed > 0).map(({ name }) => name));
  return end;
}
