// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { millis, type NatsConnection, nanos } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { keyConsumer, type Names, priorityClasses } from "./names.js";
import { partitionsRule, type ServeSettings, type StreamSettings } from "./options.js";

/** JetStream's error numbers for what is missing. */
const streamNotFound = 10059;
const nameInUse = 10058;
const consumerNotFound = 10014;

// How long a request to the JetStream API may take. A cluster elects a leader for each consumer that it creates, which takes seconds on busy
// machines. The client's default is 5 s.
const apiMsMax = 30_000;

/**
 * Returns the manager of the servers' streams. Rejects with `connect-failed` if the servers have no JetStream, or if the user may not use it.
 */
export async function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  try {
    return await jetstreamManager(connection, { timeout: apiMsMax });
  } catch (reason) {
    throw caused("connect-failed", "durable mode needs servers with JetStream, and a user who may use it", reason);
  }
}

/**
 * Creates the streams of a module that do not exist. Returns the settings with the `partitions` and the `dedupMs` that all callers and worker
 * processes use, which are those of the process that has created the queue. Rejects with `connect-failed`.
 */
export async function ensureStreams<Settings extends StreamSettings>(
  manager: JetStreamManager,
  names: Names,
  settings: Settings,
): Promise<Settings> {
  const { queue, callAgeMs, resultAgeMs, deadAgeMs } = settings;
  const common = {
    storage: settings.storage === "file" ? StorageType.File : StorageType.Memory,
    num_replicas: settings.replicas,
  };
  const window = (ageMs: number): number => nanos(Math.min(settings.dedupMs, ageMs));
  const { description, duplicate_window = 0 } = await ensure(manager, {
    ...common,
    name: names.calls,
    description: `${described}${settings.partitions}`,
    subjects: [names.callSubjects],
    retention: RetentionPolicy.Workqueue,
    // A full queue refuses calls. It never drops one.
    discard: DiscardPolicy.New,
    max_age: nanos(callAgeMs),
    duplicate_window: window(callAgeMs),
    ...(queue.items !== undefined && { max_msgs: queue.items }),
    ...(queue.bytes !== undefined && { max_bytes: queue.bytes }),
  });
  await ensure(manager, {
    ...common,
    name: names.results,
    subjects: [names.replySubjects, names.resultSubjects],
    retention: RetentionPolicy.Limits,
    max_age: nanos(resultAgeMs),
    duplicate_window: window(resultAgeMs),
    allow_direct: true,
  });
  await ensure(manager, {
    ...common,
    name: names.dead,
    subjects: [names.deadSubjects],
    retention: RetentionPolicy.Limits,
    max_age: nanos(deadAgeMs),
    duplicate_window: window(deadAgeMs),
  });
  const partitions = description?.startsWith(described) ? Number(description.slice(described.length)) : Number.NaN;
  const dedupMs = millis(duplicate_window);
  return { ...settings, dedupMs, ...(partitionsRule(partitions) === true && { partitions }) };
}

// The description of the queue's stream keeps the number of partitions. Streams of older servers have no other place for it.
const described = "clearway durable calls, partitions: ";

async function ensure(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<Pick<StreamConfig, "description"> & Partial<Pick<StreamConfig, "duplicate_window">>> {
  try {
    const { config: found } = await manager.streams.info(config.name);
    if (config.retention === found.retention) return found;
    throw new ClearwayError(
      "connect-failed",
      `the stream ${config.name} exists with the retention ${found.retention}, and durable mode needs ${config.retention}`,
    );
  } catch (reason) {
    if (reason instanceof ClearwayError) throw reason;
    if (!(reason instanceof JetStreamApiError && reason.code === streamNotFound)) {
      throw caused("connect-failed", `the stream ${config.name} cannot be read`, reason);
    }
  }
  try {
    return (await manager.streams.add(config)).config;
  } catch (reason) {
    // Another process was faster, with other options.
    if (reason instanceof JetStreamApiError && reason.code === nameInUse) return ensure(manager, config);
    throw caused("connect-failed", `the stream ${config.name} cannot be created`, reason);
  }
}

/** A consumer of the work queue, which all worker processes of a module share. */
export interface QueueConsumer {
  readonly name: string;
  /** Whether the servers deliver one call at a time. */
  readonly single: boolean;
  /** Calls up to this place in the stream may have been delivered before this process began. 0 for none. */
  readonly deliveredSeq: number;
  /** Time after which the servers give a call to another worker process, in milliseconds. */
  readonly ackWaitMs: number;
}

/**
 * Creates the consumers of the work queue that do not exist: one for each class of priority, and one for each partition of keys. A partition's
 * consumer has at most one unconfirmed call, so the calls of a key run one after the other.
 */
export async function ensureConsumers(
  manager: JetStreamManager,
  names: Names,
  settings: ServeSettings,
): Promise<QueueConsumer[]> {
  const plain = priorityClasses.map((each) => ({ name: each as string, subject: names.plain(each), single: false }));
  const keyed = Array.from({ length: settings.partitions }, (_, at) => ({
    name: keyConsumer(at),
    subject: names.keyed(at),
    single: true,
  }));
  const all = [...plain, ...keyed];
  try {
    const infos = await Promise.all(
      all.map(({ name, subject, single }) =>
        ensureConsumer(manager, names.calls, {
          durable_name: name,
          filter_subject: subject,
          ack_policy: AckPolicy.Explicit,
          ack_wait: nanos(settings.ackWaitMs),
          // This package counts the beginnings of calls, not their deliveries: see `claims.ts`.
          max_deliver: -1,
          max_ack_pending: single ? 1 : -1,
          // A worker process has a few requests for calls waiting. The servers' default is 512 for all of them.
          max_waiting: 16_384,
        }),
      ),
    );
    const { state } = await manager.streams.info(names.calls);
    return all.map(({ name, single }, at) => {
      const { config, delivered, num_ack_pending } = infos[at] as ConsumerInfo;
      // nats-server 2.9.10 forgets the place of the last call that it has delivered, if a call became due again while no process asked for calls.
      const deliveredSeq = num_ack_pending > 0 ? state.last_seq : delivered.stream_seq;
      return { name, single, deliveredSeq, ackWaitMs: millis(config.ack_wait ?? nanos(settings.ackWaitMs)) };
    });
  } catch (reason) {
    throw caused("connect-failed", `the consumers of the stream ${names.calls} cannot be created`, reason);
  }
}

// Creates a consumer only if it does not exist. If it does, nats-server 2.9.10 takes the same request for a change of the consumer, and delivers
// the calls that other worker processes run at the moment a second time, as if it were the first.
async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  config: Partial<ConsumerConfig> & { readonly durable_name: string },
): Promise<ConsumerInfo> {
  try {
    return await manager.consumers.info(stream, config.durable_name);
  } catch (reason) {
    if (!(reason instanceof JetStreamApiError && reason.code === consumerNotFound)) throw reason;
    return manager.consumers.add(stream, config);
  }
}
