// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import type { Clock } from "../clock.js";
import { fields, malformed } from "../wire/call.js";
import { isWorkerId, Op, protocolVersion, type Subjects } from "../wire/protocol.js";
import { hadNoReceiver, type Link } from "./link.js";

/** Time in which the workers answer the question who is there, in milliseconds. A round trip in one region takes a few. */
export const gatherMs = 250;

/** Maximum number of workers and of versions that are remembered. A peer could make up any number. */
const workersMax = 16_384;
const versionsMax = 16;

/** What {@link Members} needs of its pool. */
export interface MembersHost {
  readonly link: Link;
  readonly codec: StandardMessageCodec;
  readonly subjects: Subjects;
  readonly clock: Clock;
  readonly module: string;
  readonly version: string;
  /** The subject to which workers answer who they are. */
  readonly reply: string;
}

/** The worker processes of a module that a pool knows, and the choice of one for a key. */
export class Members {
  readonly #host: MembersHost;
  readonly #workers = new Set<string>();
  /** Versions of the module that other workers have. */
  readonly #versions = new Set<string>();
  #gathered: Promise<void> | undefined;
  #answered: (() => void) | undefined;
  #explaining: Promise<ClearwayError> | undefined;

  constructor(host: MembersHost) {
    this.#host = host;
    host.link.subscribe(host.subjects.members, (message) => this.announced(message));
    void this.gather();
  }

  get ids(): readonly string[] {
    return [...this.#workers];
  }

  /** Settles when the workers have had time to answer who they are. */
  ready(): Promise<void> {
    return this.#gathered ?? this.gather();
  }

  /** Asks again, because the connection was interrupted, and announcements may have been lost. */
  gather(): Promise<void> {
    this.#workers.clear();
    this.#ask();
    this.#gathered = new Promise((resolve) => this.#host.clock.after(gatherMs, resolve));
    return this.#gathered;
  }

  /** Returns the worker for a key: the one with the highest hash of key and worker. Undefined if no worker is known. */
  pick(key: string): string | undefined {
    let best: string | undefined;
    let most = -1;
    for (const id of this.#workers) {
      const hash = hashOf(key, id);
      if (hash > most || (hash === most && best !== undefined && id > best)) {
        most = hash;
        best = id;
      }
    }
    return best;
  }

  /** Forgets a worker that no longer receives messages. */
  remove(id: string): void {
    this.#workers.delete(id);
  }

  /**
   * Returns the error for a call that no worker received: `wrong-version` if there are workers of other versions, else `no-worker`. Asks
   * them, which takes a round trip.
   */
  explain(): Promise<ClearwayError> {
    this.#explaining ??= this.#explain().finally(() => {
      this.#explaining = undefined;
    });
    return this.#explaining;
  }

  async #explain(): Promise<ClearwayError> {
    this.#versions.clear();
    await new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(gatherMs, resolve);
      this.#answered = () => {
        cancel();
        resolve();
      };
      this.#ask();
    });
    this.#answered = undefined;
    const { module, version } = this.#host;
    const others = [...this.#versions].sort();
    return others.length === 0
      ? new ClearwayError("no-worker", `no worker serves the module "${module}", version ${version}`)
      : new ClearwayError(
          "wrong-version",
          `no worker serves version ${version} of the module "${module}"; there are workers of ${others.join(", ")}`,
        );
  }

  #ask(): void {
    const { link, codec, subjects, reply } = this.#host;
    link.send(subjects.who, codec.encode([Op.who]), reply);
  }

  /** Handles an announcement, or a worker's answer to the question who is there. Throws `protocol`. */
  announced(message: Msg): void {
    if (hadNoReceiver(message)) return this.#answered?.();
    const [op, id, version, protocol] = fields(this.#host.codec, message.data, false);
    if (!isWorkerId(id) || typeof version !== "string" || version.length > 64)
      throw malformed("an announcement names no worker");
    if (op === Op.left) this.#workers.delete(id);
    else if (op !== Op.worker) throw malformed("an announcement is none");
    else if (version !== this.#host.version || protocol !== protocolVersion) this.#other(version, protocol);
    else if (this.#workers.size < workersMax) this.#workers.add(id);
    this.#answered?.();
  }

  #other(version: string, protocol: unknown): void {
    if (this.#versions.size >= versionsMax) return;
    this.#versions.add(protocol === protocolVersion ? version : `${version} (with another protocol)`);
  }
}

/** Hashes a key and a worker's id to 32 bits: FNV-1a over the UTF-16 code units, then a mixer, because the ids differ in few bits. */
export function hashOf(key: string, id: string): number {
  let hash = 0x811c9dc5;
  for (const text of [key, "\0", id])
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** How a question ends. */
export interface AskSink {
  resolve(fields: readonly unknown[]): void;
  reject(reason: unknown): void;
  /** Frees the question's token. */
  forget(): void;
}

/** A question to one worker, which has one answer. */
export class Ask {
  silent = 0;
  /** A question has no worker that could do without its answer. */
  readonly worker = undefined;
  /** The id of the worker process. */
  readonly target: string;
  readonly #codec: StandardMessageCodec;
  readonly #sink: AskSink;

  constructor(target: string, codec: StandardMessageCodec, sink: AskSink) {
    this.target = target;
    this.#codec = codec;
    this.#sink = sink;
  }

  /** Handles the answer. */
  receive(message: Msg): void {
    this.#sink.forget();
    if (hadNoReceiver(message))
      return this.#sink.reject(new ClearwayError("worker-lost", "the worker process is gone"));
    try {
      this.#sink.resolve(fields(this.#codec, message.data, false));
    } catch (reason) {
      this.#sink.reject(reason);
    }
  }

  alive(): void {}

  cancel(reason: unknown): void {
    this.lose(reason);
  }

  lose(reason: unknown): void {
    this.#sink.forget();
    this.#sink.reject(reason);
  }
}
