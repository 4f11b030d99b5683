// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Msg } from "@nats-io/transport-node";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import type { Clock } from "../clock.js";
import type { CallSettings } from "../options/pool.js";
import { armLimits, own } from "../outcome.js";
import type { Grant } from "../stream/credit.js";
import { Incoming } from "../stream/incoming.js";
import { encodeCall, malformed, replyOf, type WireCallOptions } from "../wire/call.js";
import { Conversation, type ConversationWire, type Received } from "../wire/conversation.js";
import type { Charge } from "../wire/parts.js";
import { Op } from "../wire/protocol.js";
import { hadNoReceiver } from "./link.js";
import { takeStreams, Upload } from "./upload.js";

/** The kind of a task, which the pool learns from the first answer. */
export type TaskKind = "function" | "stream";

/** Counters of a task, and its kind. */
export interface TaskRecord {
  readonly name: string;
  kind: TaskKind | undefined;
  calls: number;
  ok: number;
  failed: number;
  cancelled: number;
}

/** What a call needs of its pool. */
export interface CallHost {
  readonly codec: StandardMessageCodec;
  readonly clock: Clock;
  readonly charge: Charge;
  readonly messageBytesMax: number;
  readonly payloadMax: number;
  /** Registers the call and gives it a token. Throws `queue-full`, and the error of a pool that has ended. */
  open(call: RemoteCall): void;
  /** Sends the first message of a call: to its key's worker, or to any. */
  route(call: RemoteCall, bytes: Uint8Array): void;
  /** Handles NATS's answer that the call's first message reached no worker. */
  unreceived(call: RemoteCall): void;
  /** Sends a message of the call to its worker. Without a known worker, sends it to all of them. */
  tell(call: RemoteCall, bytes: Uint8Array): void;
  /** Returns a promise while the network is slower than what is sent. It never rejects. */
  drained(): Promise<void> | undefined;
  /** Returns whether the subject is that of a worker of the module. */
  isWorker(subject: string): boolean;
  /** The call has an outcome: it no longer counts as open. */
  settled(): void;
  /** The call is over at its worker, too. Its token is free. */
  forget(call: RemoteCall): void;
}

/** Receives the outcome of a call. */
export interface CallSink {
  /** The call succeeded. For a stream, `value` is undefined, and its reader has the return value. */
  resolve(value: unknown): void;
  fail(reason: unknown): void;
}

/**
 * One call in `request` mode, at its caller. `ending`: the caller has its outcome, and the worker was notified; the call keeps its token
 * until the worker answers, so that the answer does not count as a stray one.
 */
export class RemoteCall implements ConversationWire {
  state: "idle" | "open" | "ending" | "over" = "idle";
  token = "";
  /** The subject of the worker that has the call, once it is known. */
  worker: string | undefined;
  /** The id of the worker to which a call with a key was sent, and its first message. */
  target: string | undefined;
  first: Uint8Array | undefined;
  /** Whether the first message was sent, and not only held back. */
  sent = false;
  /** Number of looks for a sign of life since the last one. */
  silent = 0;
  /** The values of a task that is a stream, or may be one. */
  readonly incoming: Incoming | undefined;
  readonly record: TaskRecord;
  readonly settings: CallSettings;
  readonly codec: StandardMessageCodec;
  readonly #host: CallHost;
  readonly #sink: CallSink;
  readonly #conversation: Conversation;
  #body: Uint8Array | undefined;
  #uploads: Map<number, Upload> | undefined;
  /** Credit that the reader gave before the call's worker was known. */
  #early: Grant | undefined;
  #disarm: (() => void) | undefined;
  #whenOver: (() => void)[] | undefined;

  constructor(host: CallHost, record: TaskRecord, settings: CallSettings, sink: CallSink) {
    this.#host = host;
    this.#sink = sink;
    this.record = record;
    this.settings = settings;
    this.codec = host.codec;
    this.#conversation = new Conversation(this);
    if (record.kind === "function") return;
    this.incoming = new Incoming(settings.window, { grant: (credit) => this.#grant(credit), charge: host.charge });
  }

  get payloadMax(): number {
    return this.#host.payloadMax;
  }

  get messageBytesMax(): number {
    return this.#host.messageBytesMax;
  }

  get charge(): Charge {
    return this.#host.charge;
  }

  get begun(): boolean {
    return this.sent || this.worker !== undefined;
  }

  /** Encodes the call and opens the streams among its arguments. Throws for arguments that cannot cross. */
  prepare(args: readonly unknown[]): void {
    const taken = takeStreams(args);
    if (taken.inputs) {
      const send = (bytes: Uint8Array): void => this.send(bytes);
      const wire = { codec: this.codec, send, drained: () => this.#host.drained() };
      this.#uploads = new Map(
        taken.inputs.map(({ index, iterator }) => [index, new Upload(index, iterator, wire)] as const),
      );
    }
    const task = this.record.name;
    this.#body = encodeCall(this.codec, { task, args: taken.args, options: this.#optionsOf() });
  }

  /** Sends the call. Throws if the pool does not take it. */
  start(): void {
    const body = this.#body;
    if (this.state !== "idle" || body === undefined) return;
    this.#host.open(this);
    this.state = "open";
    this.record.calls++;
    this.#body = undefined;
    const { signal, deadlineMs } = this.settings;
    if (signal !== undefined || deadlineMs !== undefined) {
      const disarm = armLimits(this.settings, this.#host.clock, (reason, code) => this.cancel(reason, code));
      // Reading the signal may have ended the call.
      if (this.isOver) return disarm();
      this.#disarm = disarm;
    }
    this.#conversation.send(body);
  }

  /** Sends a message of the call to its worker, behind those that wait. */
  send(bytes: Uint8Array): void {
    if (this.state === "open") this.#conversation.send(bytes);
  }

  post(bytes: Uint8Array): void {
    if (this.begun) this.#host.tell(this, bytes);
    else this.#host.route(this, bytes);
  }

  /** Handles a message to the call's token. A call whose worker breaks the protocol fails. Throws `protocol` for a stranger's message. */
  receive(message: Msg): void {
    if (hadNoReceiver(message)) return this.#unreceived();
    const { reply } = message;
    if (reply && !this.#isFrom(reply)) throw malformed("it does not come from the call's worker");
    this.silent = 0;
    try {
      const received = this.#conversation.receive(message.data);
      if (received) this.#handle(received);
    } catch (reason) {
      this.cancel(own(reason), "cancelled");
    }
  }

  /** Records a sign of life from the call's worker. */
  alive(worker: string): void {
    if (this.#isFrom(worker)) this.silent = 0;
  }

  /** Ends the call with an error, and tells its worker. */
  cancel(reason: unknown, code: "cancelled" | "deadline"): void {
    if (this.state === "idle") return this.refuse(reason);
    if (this.state !== "open") return;
    this.record.cancelled++;
    this.#end();
    this.#tellEnd(code);
    this.#failed(reason);
  }

  /** Ends the call with an error. Its worker is gone, or does not have it. */
  lose(reason: unknown): void {
    if (this.state === "idle") return this.refuse(reason);
    const open = this.state === "open";
    if (open) {
      this.record.failed++;
      this.#end();
    }
    this.over();
    if (open) this.#failed(reason);
  }

  /**
   * Ends a call that a lost message would leave open for ever, because its worker still has it: a stream, a task that may be one, progress, a
   * large value under way, and a call whose cancel may be lost. A lost answer of any other call is missed by its silence.
   */
  interrupted(why: () => ClearwayError): void {
    if (!this.sent) return;
    if (this.state === "ending") return this.over();
    const several =
      this.incoming !== undefined || this.#uploads !== undefined || this.settings.onProgress !== undefined;
    if (several || this.#conversation.receiving || this.#conversation.waits) this.lose(own(why()));
  }

  /** Fails a call that was never sent. */
  refuse(reason: unknown): void {
    if (this.state !== "idle") return this.cancel(reason, "cancelled");
    this.state = "over";
    this.#release();
    this.#failed(reason);
  }

  /** Ends a stream for its reader. Settles when the worker has ended it, and its `finally` has run. */
  async endedByReader(): Promise<void> {
    if (this.state === "idle") {
      this.state = "over";
      this.#release();
    } else if (this.state === "open") {
      this.record.cancelled++;
      this.#end();
      this.#tellEnd("cancelled");
      // The promise for a task that is a stream has resolved. Any other one must still settle.
      this.#sink.fail(own(new ClearwayError("cancelled", `${this.record.name}() was ended by its reader`)));
    }
    this.incoming?.end(undefined);
    this.incoming?.drop();
    if (this.isOver) return;
    await new Promise<void>((resolve) => {
      this.#whenOver ??= [];
      this.#whenOver.push(resolve);
    });
  }

  /** Forgets the call: its worker has answered, is gone, or never had it. */
  over(): void {
    if (this.state === "over") return;
    this.state = "over";
    this.#conversation.drop();
    this.#host.forget(this);
    for (const each of this.#whenOver ?? []) each();
  }

  /** Whether the call is over. The compiler does not see that a method has changed the state. */
  get isOver(): boolean {
    return this.state === "over";
  }

  #handle({ message, bytes }: Received): void {
    const op = message[0];
    if (op === Op.result || op === Op.failure) return this.#answered(message);
    if (op === Op.end) return this.#streamEnded(message[2]);
    if (this.state !== "open") return; // the worker does not know yet that the call has ended
    if (op === Op.items) return this.#stream().add(message[2], bytes);
    if (op === Op.credit) return this.#upload(message[1]).outgoing.grant(message[2], message[3]);
    if (op === Op.progress) return this.#progress(message[1]);
    if (op !== Op.accepted) throw malformed(`a worker sent the op ${op}`);
    if (message[1] === true) this.#isStream();
  }

  #answered(message: readonly unknown[]): void {
    if (this.state !== "open") return this.over();
    const reply = replyOf(message);
    const { record } = this;
    if (!reply.ok) return this.lose(own(reply.error));
    if (record.kind === "stream") throw this.#changed("a stream has a result");
    record.kind = "function";
    record.ok++;
    this.#end();
    this.over();
    this.incoming?.fail(new ClearwayError("not-a-stream", `${record.name}() gives one result: await it`));
    this.#sink.resolve(reply.value);
  }

  #streamEnded(value: unknown): void {
    if (this.state !== "open") return this.over();
    const incoming = this.#stream();
    this.record.ok++;
    this.#end();
    this.over();
    incoming.end(value);
    this.#sink.resolve(undefined);
  }

  // The task is a stream, so the caller's promise resolves with the stream.
  #isStream(): void {
    if (this.record.kind === "function") throw this.#changed("a function is a stream");
    this.record.kind = "stream";
    this.#sink.resolve(undefined);
    const early = this.#early;
    this.#early = undefined;
    if (early) this.#grant(early);
  }

  // Another worker process has a task of the other kind, so the next call asks again.
  #changed(what: string): ClearwayError {
    this.record.kind = undefined;
    return malformed(`${what}; the worker processes may have different code under the same version`);
  }

  #stream(): Incoming {
    if (this.incoming === undefined) throw malformed("a function has values");
    return this.incoming;
  }

  #progress(values: unknown): void {
    const { onProgress } = this.settings;
    if (!Array.isArray(values) || onProgress === undefined) throw malformed("progress is no list, or has no listener");
    // The listener belongs to the caller, so the call fails with its error unchanged.
    const fail = (reason: unknown): void => this.cancel(reason, "cancelled");
    try {
      for (const value of values) if (this.state === "open") Promise.resolve(onProgress(value)).catch(fail);
    } catch (reason) {
      fail(reason);
    }
  }

  #upload(index: unknown): Upload {
    const upload = this.#uploads?.get(index as number);
    if (upload === undefined) throw malformed("credit belongs to no stream");
    return upload;
  }

  // The first read of a stream sends its call, with the first grant in it.
  #grant(credit: Grant): void {
    if (this.state === "idle") {
      try {
        this.start();
      } catch (reason) {
        this.refuse(reason);
      }
    } else if (this.worker === undefined) this.#early = credit;
    else this.send(this.codec.encode([Op.credit, -1, credit.items, credit.bytes]));
  }

  #optionsOf(): WireCallOptions | undefined {
    const { plain, timeoutMs, deadlineMs, key, priority, onProgress, window } = this.settings;
    const { kind } = this.record;
    if (plain && kind === "function" && this.#uploads === undefined) return undefined;
    return {
      timeoutMs,
      deadlineMs,
      key,
      priority: priority === 0 ? undefined : priority,
      progress: onProgress !== undefined,
      // If the kind is not known, the reader's first read sends the credit.
      window: kind === "function" ? undefined : kind === "stream" ? window : { items: 0, bytes: 0 },
      inputs: this.#uploads && [...this.#uploads.keys()],
    };
  }

  #isFrom(subject: string): boolean {
    if (this.worker !== undefined) return this.worker === subject;
    if (!this.#host.isWorker(subject)) return false;
    this.worker = subject;
    return true;
  }

  #unreceived(): void {
    if (this.state !== "open") return this.over();
    if (this.worker === undefined) return this.#host.unreceived(this);
    this.lose(own(new ClearwayError("worker-lost", `the worker process that had ${this.record.name}() is gone`)));
  }

  // Ends the call for its caller. The caller's own code runs only afterwards, so it cannot change the call.
  #end(): void {
    this.state = "ending";
    this.#release();
    this.#host.settled();
  }

  #tellEnd(code: string): void {
    this.#conversation.drop();
    if (this.sent) this.#host.tell(this, this.codec.encode([Op.cancel, code]));
    else this.over();
  }

  #failed(reason: unknown): void {
    this.incoming?.fail(reason);
    this.#sink.fail(reason);
  }

  #release(): void {
    this.#body = undefined;
    this.#disarm?.();
    if (this.#uploads) for (const each of this.#uploads.values()) each.stop();
  }
}
