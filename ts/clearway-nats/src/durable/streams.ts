// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DiscardPolicy,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "@nats-io/jetstream";
import { headers, type MsgHdrs, millis, type NatsConnection, nanos } from "@nats-io/transport-node";
import { ClearwayError, caused } from "clearway/remote";
import { cannotReserve, numberOf, opening, openMsMax, serverNumbers } from "./connection.js";
import { keyConsumer, type Names, priorityClasses } from "./names.js";
import { partitionsRule, type ServeSettings, type StreamSettings } from "./options.js";

/**
 * Returns the manager of the servers' streams. Rejects with `connect-failed` if the servers have no JetStream, or if the user may not use it.
 *
 * A request may take a long time: a cluster elects a leader for each consumer that it creates, which takes seconds on busy machines. The
 * client's default is 5 s.
 */
export function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  return opening(connection, "durable mode needs servers with JetStream, and a user who may use it", () =>
    jetstreamManager(connection, { timeout: openMsMax }),
  );
}

/** The streams of a module as the servers have them. */
export interface FoundStreams<Settings> {
  /** The settings with what all callers and worker processes must agree on, which is what the existing streams have. */
  readonly settings: Settings;
  /** Changes when the servers have lost the calls or the outcomes, and the streams were made again. */
  readonly identity: string;
  /** How to make the streams again as they were. */
  readonly configs: readonly NamedConfig[];
}

type NamedConfig = Partial<StreamConfig> & { readonly name: string };

/**
 * Creates the streams of a module that do not exist: with the `configs` of an earlier look if there are some, and else by the settings. Rejects
 * with the error of the servers, and with `connect-failed` for a stream of that name that is none of ours.
 */
export async function ensureStreams<Settings extends StreamSettings>(
  manager: JetStreamManager,
  names: Names,
  settings: Settings,
  configs: readonly NamedConfig[] = configsOf(names, settings),
): Promise<FoundStreams<Settings>> {
  const [calls, results, dead] = configs as readonly [NamedConfig, NamedConfig, NamedConfig];
  const queue = await sized(manager, await ensure(manager, calls, () => addQueue(manager, calls)));
  const outcomes = await ensure(manager, results);
  const given = await ensure(manager, dead);
  const { description, duplicate_window = 0, storage, num_replicas, max_age, max_bytes } = queue.config;
  const partitions = description?.startsWith(described) ? Number(description.slice(described.length)) : Number.NaN;
  return {
    settings: {
      ...settings,
      // What belongs to the calls must not be lost before them.
      storage: storage === StorageType.Memory ? "memory" : "file",
      replicas: num_replicas,
      callAgeMs: max_age > 0 ? millis(max_age) : settings.callAgeMs,
      dedupMs: millis(duplicate_window),
      queue: { ...settings.queue, bytes: max_bytes > 0 ? max_bytes : undefined },
      ...(partitionsRule(partitions) === true && { partitions }),
    },
    identity: [queue, outcomes].map(({ created }) => created).join(" "),
    configs: [queue, outcomes, given].map(({ config }) => config),
  };
}

function configsOf(names: Names, settings: StreamSettings): NamedConfig[] {
  const { queue, callAgeMs, resultAgeMs, deadAgeMs } = settings;
  const common = {
    storage: settings.storage === "file" ? StorageType.File : StorageType.Memory,
    num_replicas: settings.replicas,
  };
  const window = (ageMs: number): number => nanos(Math.min(settings.dedupMs, ageMs));
  const calls = {
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
    ...(queue.bytes !== undefined && { max_bytes: alignedBytes(queue.bytes) }),
  };
  const results = {
    ...common,
    name: names.results,
    subjects: [names.replySubjects, names.resultSubjects],
    retention: RetentionPolicy.Limits,
    max_age: nanos(resultAgeMs),
    duplicate_window: window(resultAgeMs),
    allow_direct: true,
  };
  const dead = {
    ...common,
    name: names.dead,
    subjects: [names.deadSubjects],
    retention: RetentionPolicy.Limits,
    max_age: nanos(deadAgeMs),
    duplicate_window: window(deadAgeMs),
  };
  return [calls, results, dead];
}

// The description of the queue's stream keeps the number of partitions. Streams of older servers have no other place for it.
const described = "clearway durable calls, partitions: ";
// It says so while the stream still has all the bytes that the servers could reserve.
const unsized = "clearway durable calls without a limit yet, partitions: ";

async function ensure(
  manager: JetStreamManager,
  config: NamedConfig,
  add = () => manager.streams.add(config),
): Promise<StreamInfo> {
  try {
    const found = await manager.streams.info(config.name);
    if (config.retention === found.config.retention) return ours(found, config);
    throw new ClearwayError(
      "connect-failed",
      `the stream ${config.name} exists with the retention ${found.config.retention}, and durable mode needs ${config.retention}`,
    );
  } catch (reason) {
    if (numberOf(reason) !== serverNumbers.streamNotFound) throw reason;
  }
  try {
    return await add();
  } catch (reason) {
    // Another process was faster, with other options.
    if (numberOf(reason) === serverNumbers.nameInUse) return ensure(manager, config, add);
    if (numberOf(reason) !== serverNumbers.subjectsOverlap) throw reason;
    const what = `the subjects ${config.subjects?.join(", ")} of the stream ${config.name} belong to another stream`;
    throw caused(
      "connect-failed",
      `${what}. If it is of an older clearway-nats, let its calls run, then delete it`,
      reason,
    );
  }
}

// Versions such as `1+2` and `1..2` have the same names, and different subjects.
function ours(found: StreamInfo, { name, subjects = [] }: NamedConfig): StreamInfo {
  const { config } = found;
  if (subjects.every((each) => config.subjects?.includes(each))) return found;
  throw new ClearwayError(
    "connect-failed",
    `the stream ${name} is of another module or version: its subjects are ${config.subjects?.join(", ")}, and durable mode needs ${subjects.join(", ")}`,
  );
}

// A queue without `queue.bytes` takes a quarter of the storage that the servers can reserve, and at most this. Claims and outcomes need the
// rest: the queue drains only while they have room. Servers do not say how much they have, only whether they can reserve a number of bytes.
const queueShare = 1 / 4;
const queueBytesMax = 2 ** 30;
const queueBytesMin = 2 ** 16;

async function addQueue(manager: JetStreamManager, config: NamedConfig): Promise<StreamInfo> {
  if (config.max_bytes !== undefined) return manager.streams.add(config);
  for (let bytes = queueBytesMax / queueShare; ; bytes /= 2) {
    try {
      const description = unsized + config.description?.slice(described.length);
      return await manager.streams.add({ ...config, description, max_bytes: bytes });
    } catch (reason) {
      if (!cannotReserve(reason) || bytes * queueShare <= queueBytesMin) throw reason;
    }
  }
}

// Gives the queue its limit. The process that has made the stream may have ended before, or another one may have found it meanwhile.
async function sized(manager: JetStreamManager, queue: StreamInfo): Promise<StreamInfo> {
  const { name, description, max_bytes } = queue.config;
  if (!description?.startsWith(unsized)) return queue;
  return manager.streams.update(name, {
    description: described + description.slice(unsized.length),
    max_bytes: max_bytes * queueShare,
  });
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
    if (numberOf(reason) !== serverNumbers.consumerNotFound) throw reason;
    return manager.consumers.add(stream, config);
  }
}

// nats-server 2.9.10 has a full stream drop its oldest message in one case, although the stream refuses new ones: it compares the limit with the
// stored bytes and the bytes of a new message, and forgets what its record takes besides. If the message fits and its record does not, it stores
// the message and then removes the oldest ones. So the records of calls have a size that is a multiple of this number, and so has the limit:
// then a message fits only if its record does. The number is larger than what a record takes besides the message.
const quantum = 256;

const headerName = "Clearway-Pad";
// The bytes of `NATS/1.0`, of the line ends around the headers, and of a header besides its name and its value.
const headersBytes = 12;
const headerBytes = 4;
// What a record takes besides the subject, the headers and the body.
const recordBytes = { file: 34, memory: 16 } as const;

/** Returns the limit of a stream's bytes for {@link paddedHeaders}: the next lower one, and at least the least. */
export function alignedBytes(bytes: number): number {
  return Math.max(quantum, bytes - (bytes % quantum));
}

/** Returns the headers of a call with an id. If the queue has a limit of its bytes, the record of the call has an aligned size. */
export function paddedHeaders(
  id: string,
  subject: string,
  body: Uint8Array,
  { queue, storage }: Pick<StreamSettings, "queue" | "storage">,
): MsgHdrs {
  const once = headers();
  const idName = "Nats-Msg-Id";
  once.set(idName, id);
  if (queue.bytes === undefined) return once;
  const size =
    recordBytes[storage] +
    subject.length +
    headersBytes +
    (headerBytes + idName.length + id.length) +
    (headerBytes + headerName.length) +
    body.length;
  once.set(headerName, "x".repeat((quantum - (size % quantum)) % quantum));
  return once;
}
