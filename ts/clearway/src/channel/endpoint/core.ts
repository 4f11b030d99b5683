// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { OwnPromise, structuredClone } from "../../globals.js";
import { within } from "../../lazy/lazy.js";
import { keyText } from "../codec/text.js";
import { type ChannelTransport, type CloseReason, closedHere, type ValueFrame } from "../transport/transport.js";
import { Flag, type Hello, Op, readFrame, type WireName } from "../wire/frame.js";
import { type CallOptions, Calls, type Head, Outbox, type QueuedRequest } from "./calls.js";
import { Connection, nothing } from "./connection.js";
import type { EndpointSettings } from "./options.js";
import type { Encoded, Received } from "./outgoing-value.js";
import { Publishers, type RequestedStream } from "./publishers.js";
import { RequestRouter } from "./request-router.js";
import { Served } from "./served.js";
import type { Source } from "./source.js";
import { PlainSubscriptions, Subscriptions } from "./subscriptions.js";

/** A frame of bytes, or a frame with a value. */
type Arrived = Head & { readonly name: Uint8Array | string };

const closeMs = 5_000;

const noAttachments: readonly Uint8Array[] = [];

/**
 * Connects the parts of an endpoint. It passes arriving frames to the parts. The channels (`messages.ts`, `methods.ts`,
 * `events.ts`) send through it.
 */
export class Core {
  readonly connection: Connection;
  readonly router: RequestRouter<RequestedStream>;
  readonly subscriptions: Subscriptions;
  readonly plainListens: PlainSubscriptions;
  /** Streams on the plain wire to which the other end listens. */
  readonly plainSources = new Set<Source>();
  /** Streams on the plain wire whose source still runs, with or without a listener. */
  readonly plainRunning = new Set<Source>();
  readonly closed: Promise<CloseReason>;
  readonly #transport: ChannelTransport;
  readonly #outbox: Outbox;
  readonly #calls: Calls;
  readonly #publishers: Publishers;
  #resolveClosed!: (reason: CloseReason) => void;
  /** Posts that wait for room. The endpoint rejects them when the transport closes. */
  readonly #posts = new Set<QueuedRequest>();
  /** Called when no post waits. */
  #whenPosted: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  /** These functions send what waits: requests, replies, and events. */
  readonly #drains = [
    () => this.#outbox.drain(),
    () => this.router.drain(),
    () => {
      this.#publishers.drain();
      for (const source of [...this.plainSources]) source.drain();
    },
  ];

  constructor(
    transport: ChannelTransport,
    settings: EndpointSettings,
    wire: WireName,
    there: Hello | undefined,
    clones: boolean,
  ) {
    this.#transport = transport;
    this.connection = new Connection(transport, settings, wire, there, clones, (reason) => this.ended(reason));
    this.#outbox = new Outbox(() => this.connection.congested);
    this.#calls = new Calls(this.connection, this.#outbox, () => this.router.updatePause());
    this.subscriptions = new Subscriptions(this.connection, this.#outbox);
    this.plainListens = new PlainSubscriptions(this.connection, this.#calls);
    this.router = new RequestRouter<RequestedStream>(this.connection, {
      mayPause: () => !this.#calls.awaitsReplies,
      end: (reason) => this.terminate(reason),
    });
    this.#publishers = new Publishers(this.connection, this.router);
    this.closed = new OwnPromise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  call(channel: string, message: Encoded, options?: CallOptions): Promise<Received> {
    return this.#calls.call(this.connection.name(channel), channel, message, options);
  }

  /** Sends a message that has no reply. The promise settles when the transport has taken the message. */
  post(channel: string, message: Encoded): Promise<void> {
    const posted = this.#post(channel, message);
    // The other end may close at any time. It must not be able to end the process of a sender that awaits nothing.
    posted.catch(() => {});
    return posted;
  }

  #post(channel: string, message: Encoded): Promise<void> {
    const { connection } = this;
    const name = connection.name(channel);
    if (connection.over) return OwnPromise.reject(connection.closedError(`post to ${channel}`));
    const { callsMax } = connection.settings;
    if (this.#posts.size >= callsMax)
      return OwnPromise.reject(new ClearwayError("queue-full", `too many waiting posts: callsMax=${callsMax}`));
    return new OwnPromise((resolve, reject) => {
      const post: QueuedRequest = {
        leave: () => {
          connection.send({ op: connection.wire === "plain" ? Op.message : Op.post, name, channel }, message);
          this.#forget(post);
          resolve();
        },
        hold: () => message.value?.hold(),
        refuse: (reason) => {
          this.#forget(post);
          reject(reason);
        },
      };
      this.#posts.add(post);
      this.#outbox.push(post);
    });
  }

  #forget(post?: QueuedRequest): void {
    this.#posts.delete(post!);
    if (this.#posts.size === 0) this.#whenPosted?.();
  }

  frame(bytes: Uint8Array, attachments: readonly Uint8Array[]): void {
    // The transport may still deliver frames after this end has closed it.
    if (this.connection.reason !== undefined) return;
    const frame = readFrame(bytes, attachments);
    if (frame === undefined) return this.connection.broken(`received ${bytes.length} bytes that are not a frame`);
    const message: Received = {
      body: frame.body,
      flags: frame.flags & (Flag.whole | Flag.empty),
      attachments: frame.attachments,
      fillsBuffer: bytes.buffer.byteLength === bytes.byteLength,
      value: undefined,
    };
    this.connection.arrived(message);
    if (this.connection.wire === "plain") this.#plain(frame, message);
    else this.#ours(frame, message);
  }

  /** Receives a frame with a value. */
  value(frame: ValueFrame): void {
    if (this.connection.reason !== undefined) return;
    if (!this.connection.clones) return this.connection.broken("a value by structured clone, which was not agreed on");
    const message: Received = {
      body: nothing.body,
      flags: frame.flags & (Flag.whole | Flag.empty),
      attachments: noAttachments,
      fillsBuffer: false,
      value: (frame.flags & Flag.value) !== 0 ? frame : undefined,
    };
    this.connection.arrived(message);
    this.#ours(frame, message);
  }

  drained(): void {
    this.connection.congested = false;
    this.connection.drains++;
    this.subscriptions.drain();
    // Each comes first in turn, because what waits in one of them may take all the room every time.
    this.#drains.push(this.#drains.shift()!);
    for (const drain of [...this.#drains]) drain();
  }

  ended(reason: CloseReason): void {
    if (this.connection.reason !== undefined) return;
    this.connection.reason = reason;
    this.#outbox.clear();
    for (const post of [...this.#posts]) post.refuse(this.connection.closedError("post"));
    this.#calls.closed();
    this.subscriptions.closed();
    this.plainListens.closed();
    this.#publishers.closed();
    for (const source of [...this.plainSources])
      source.cancel(this.connection.closedError(`events of ${source.channel}`));
    this.router.closed();
    this.#resolveClosed(reason);
  }

  /**
   * Ends streams, waits up to `timeoutMs` milliseconds for open calls of both ends and for posts that wait for room, then closes the
   * transport. A limit also applies if the endpoint is closing already.
   */
  close(timeoutMs?: number): Promise<void> {
    this.connection.closing = true;
    if (this.#closing && timeoutMs !== undefined) void within(this.closed, timeoutMs).then(() => this.terminate());
    this.#closing ??= this.#close(timeoutMs ?? closeMs);
    return this.#closing;
  }

  terminate(reason: CloseReason = closedHere): void {
    this.connection.close(reason);
    this.ended(reason);
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#publishers.finish();
    for (const source of [...this.plainSources]) source.closing(this.connection.closedError("closing"));
    this.router.refuseEarly();
    const posted = new OwnPromise<void>((resolve) => {
      this.#whenPosted = resolve;
      this.#forget();
    });
    const idle = OwnPromise.all([this.#calls.idle(), posted]).then(() => this.router.finish());
    await within(OwnPromise.race([idle, this.closed]), timeoutMs);
    this.terminate();
  }

  get stats() {
    const { ledger, wire, codec } = this.connection;
    return {
      wire,
      codec,
      transport: this.#transport.name,
      calls: this.#calls.size,
      handling: this.router.size,
      waitingBytes: this.router.waitingBytes + this.connection.queued.bytes,
      listening: this.subscriptions.size + this.plainListens.size,
      serving: this.#publishers.size + this.plainSources.size,
      ledger: structuredClone(ledger),
    };
  }

  #ours(frame: Arrived, message: Received): void {
    switch (frame.op) {
      case Op.call:
      case Op.post:
        return this.#request(frame, message, frame.op === Op.call);
      case Op.reply:
        return this.#calls.reply(frame, message);
      case Op.cancel:
        return this.router.cancel(frame.id, frame.a);
      case Op.stop: {
        const waiting = this.#publishers.cancel(frame.id);
        if (waiting) this.router.withdraw(waiting);
        return;
      }
      case Op.listen: {
        const channel = this.#channel(frame);
        const requested = channel === undefined ? undefined : this.#publishers.request(frame, channel, message);
        if (requested) this.router.listen(requested, message);
        return;
      }
      case Op.event:
        return this.subscriptions.event(frame, message);
      case Op.end:
        return this.subscriptions.end(frame);
      case Op.credit:
        return this.#publishers.credit(frame);
      default:
        this.connection.broken(`a frame of kind ${frame.op}`);
    }
  }

  #plain(frame: Arrived, message: Received): void {
    if (frame.op === Op.answer) return this.#calls.reply(frame, message);
    if (frame.op !== Op.message) return this.connection.broken(`a frame of kind ${frame.op} on the plain wire`);
    const channel = this.#channel(frame);
    if (channel === undefined) return;
    if (!this.plainListens.message(channel, message)) return this.#request(frame, message, frame.id !== 0, channel);
    // An event needs no answer. If the other end asks for one, this end sends an empty answer.
    if (frame.id !== 0) this.router.reply({ op: Op.answer, id: frame.id });
  }

  #request(frame: Arrived, message: Received, wanted: boolean, channel = this.#channel(frame)): void {
    if (channel === undefined) return;
    const { id } = frame;
    // Only a call has limits of time. In other frames, a reader ignores these fields.
    const [a, b] = frame.op === Op.call ? [frame.a, frame.b] : [0, 0];
    this.router.request(new Served(this.connection, id, channel, message, wanted, a, b, this.router));
  }

  #channel({ name }: Arrived): string | undefined {
    // A name of a value's frame has at least as many bytes as characters.
    if (typeof name === "string" && name.length <= this.connection.settings.nameBytesMax) return name;
    if (typeof name !== "string" && name.length <= this.connection.settings.nameBytesMax) {
      try {
        return keyText(name, 0, name.length);
      } catch {
        // The name is not UTF-8. The call of `broken` below reports it.
      }
    }
    this.connection.broken(`a channel's name of ${name.length} bytes that cannot be read`);
    return undefined;
  }
}
