// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ConsumerInfo, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { timers } from "../clock.js";
import { watchConnection } from "./connection.js";

/** What {@link AckRepair} needs. */
export interface AckRepairParts {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** The work queue. */
  readonly stream: string;
  /** The consumers that deliver one call at a time, and whether this process has a call of theirs now. */
  readonly pullers: ReadonlyMap<string, { readonly holds: boolean }>;
}

const checkMs = 10_000;
// The last delivered place of a consumer with one unconfirmed call is that of the call, or behind it if servers have skipped places.
const placesMax = 64;

// State of a consumer, and the number of checks that have found it.
interface Seen {
  readonly state: string;
  checks: number;
}

/**
 * Confirms calls that have left the queue while the consumer of a partition waits for their confirmation.
 *
 * A server that is killed may forget the last confirmations of a consumer and keep the removals of their messages. nats-server 2.9.10 then
 * neither delivers the call again nor gives up waiting for it, if an older call of another subject is in the stream. The partition would
 * never deliver another call.
 *
 * A second confirmation of a removed call changes nothing else. So all worker processes may do this at the same time, and one that is wrong
 * about the state of the servers does no harm.
 */
export class AckRepair {
  /** Number of partitions that this process has made go on. */
  unblocked = 0;
  readonly #parts: AckRepairParts;
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: () => void;
  #seen = new Map<string, Seen>();
  #checking: Promise<void> | undefined;
  #closed = false;

  constructor(parts: AckRepairParts) {
    this.#parts = parts;
    this.#timer = timers.setInterval(() => void this.check(), checkMs);
    this.#timer.unref();
    this.#unwatch = watchConnection(parts.connection, {
      reconnected: () => void this.#afterReconnect(),
      closed: () => this.close(),
    });
  }

  /** Looks at the consumers once; with `atOnce`, also at those that were not seen before. Never rejects. */
  check(atOnce = false): Promise<void> {
    // Servers that do not answer are asked again at the next check. Worker processes report an absence of servers elsewhere.
    this.#checking ??= this.#check(atOnce)
      .catch(() => {})
      .finally(() => {
        this.#checking = undefined;
      });
    return this.#checking;
  }

  // Servers that were killed have this state from their start on. Whether the state is an old one does not matter: what is confirmed is gone.
  async #afterReconnect(): Promise<void> {
    await this.#checking;
    // Servers that have restarted may have another state than before, which looks the same.
    this.#seen.clear();
    if (!this.#closed) await this.check(true);
  }

  close(): void {
    this.#closed = true;
    timers.clearInterval(this.#timer);
    this.#unwatch();
  }

  async #check(atOnce: boolean): Promise<void> {
    const { connection, manager, stream, pullers } = this.#parts;
    const seen = new Map<string, Seen>();
    const suspects: ConsumerInfo[] = [];
    for await (const info of manager.consumers.list(stream)) {
      const { name } = info;
      const puller = pullers.get(name);
      if (puller === undefined || puller.holds || info.num_ack_pending === 0) continue;
      const state = placeOf(info);
      const before = this.#seen.get(name);
      const checks = before?.state === state ? before.checks + 1 : 0;
      seen.set(name, { state, checks });
      // A call may run for hours elsewhere. It is looked for ever more rarely, because the servers answer with the whole call.
      if (checks > 0 ? (checks & (checks - 1)) === 0 : atOnce) suspects.push(info);
    }
    this.#seen = seen;
    for (const info of suspects) {
      if (this.#closed || connection.isClosed()) return;
      if (await this.#repair(info)) this.unblocked++;
    }
  }

  // Confirms the calls for which a consumer waits if they have left the queue. Returns whether that was so.
  async #repair(info: ConsumerInfo): Promise<boolean> {
    const { connection, manager, stream } = this.#parts;
    const { name, delivered, ack_floor } = info;
    let acked = false;
    const last = Math.max(ack_floor.stream_seq, delivered.stream_seq - placesMax);
    for (let seq = delivered.stream_seq; seq > last; seq--) {
      // The place may be that of a call of another consumer, which a confirmation would remove. Places are never used twice.
      if ((await manager.streams.getMessage(stream, { seq })) !== null) continue;
      const now = await manager.consumers.info(stream, name);
      if (!waits(now, info)) break;
      await connection.request(`$JS.ACK.${stream}.${name}.1.${seq}.${delivered.consumer_seq}.0.0`, "+ACK", {
        timeout: 30_000,
      });
      acked = true;
    }
    return acked && !waits(await manager.consumers.info(stream, name), info);
  }
}

// Whether a consumer waits for the same confirmation as before.
function waits(now: ConsumerInfo, before: ConsumerInfo): boolean {
  return now.num_ack_pending > 0 && placeOf(now) === placeOf(before);
}

// Returns what changes whenever a consumer delivers a call.
function placeOf({ created, delivered }: ConsumerInfo): string {
  return [created, delivered.consumer_seq, delivered.stream_seq].join(" ");
}
