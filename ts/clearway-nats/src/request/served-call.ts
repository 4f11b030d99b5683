// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallOptions, move, type Pool, type Stream } from "clearway";
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError, errorFromPlain } from "clearway/remote";
import type { AnyModule } from "../options/serve.js";
import { creditMax, type Grant } from "../stream/credit.js";
import { Incoming } from "../stream/incoming.js";
import { Outgoing, ProgressSender } from "../stream/outgoing.js";
import { callOf, encodeFailure, encodeResult, malformed, type WireCall, type WireCallOptions } from "../wire/call.js";
import { Conversation, type ConversationWire, type Received } from "../wire/conversation.js";
import type { Charge } from "../wire/parts.js";
import { Op } from "../wire/protocol.js";
import { weightOf } from "../wire/weight.js";
import type { Account } from "./account.js";

/** The window of streams into tasks. */
const inputWindow: Grant = { items: 256, bytes: 2 ** 20 };

/** Bytes of memory that a stream into a task takes, without its values. */
const inputBytes = 4_096;

/** What a served call needs of its server. */
export interface ServedHost {
  readonly codec: StandardMessageCodec;
  readonly pool: Pool<AnyModule>;
  readonly messageBytesMax: number;
  readonly payloadMax: number;
  /** Sends a message to a caller. If it is not the last one of its call, the caller can answer. */
  answer(reply: string, bytes: Uint8Array, last: boolean): void;
  /** Returns a promise while the network is slower than what is sent. It never rejects. */
  drained(): Promise<void> | undefined;
  /** Throws `unknown-task` for a task that the module does not have. */
  checkTask(task: string): void;
  /** Returns whether a call of the task has taken longer than a second, or has waited so long. */
  isLong(task: string): boolean;
  /** The call has its answer, or its caller is gone. Its reply subject is free. */
  forget(call: ServedCall): void;
  /** The call is over, and its work has ended. */
  ended(call: ServedCall): void;
}

/** One call in `request` mode, at its worker process. */
export class ServedCall implements ConversationWire {
  readonly begun = true;
  /** Whether the call was cancelled. Its caller may still wait for the end. */
  cancelled = false;
  /** The name of the task, once it is known. */
  task: string | undefined;
  readonly account: Account;
  readonly reply: string;
  /** Number of ticks since the call arrived. */
  ticks = 0;
  /** Number of ticks since the caller's last message. */
  unheard = 0;
  readonly #host: ServedHost;
  readonly #conversation: Conversation;
  #state: "receiving" | "running" | "answering" | "over" = "receiving";
  /** Bytes of the call's message and of its values, which are charged until its work has ended. */
  #argumentBytes = 0;
  /** Settles when the task has ended, or has left the pool's queue. Undefined if it does not run. */
  #work: Promise<unknown> | undefined;
  #controller: AbortController | undefined;
  #inputs: Map<number, Incoming> | undefined;
  #stream: Stream<unknown> | undefined;
  #outgoing: Outgoing | undefined;
  #progress: ProgressSender | undefined;

  constructor(host: ServedHost, account: Account, reply: string) {
    this.#host = host;
    this.account = account;
    this.reply = reply;
    this.#conversation = new Conversation(this);
  }

  get codec(): StandardMessageCodec {
    return this.#host.codec;
  }

  get payloadMax(): number {
    return this.#host.payloadMax;
  }

  get messageBytesMax(): number {
    return this.#host.messageBytesMax;
  }

  get charge(): Account {
    return this.account;
  }

  // A caller that grants nothing would otherwise make results pile up here.
  get waitCharge(): Charge {
    return this.account.sending;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  post(bytes: Uint8Array): void {
    this.#host.answer(this.reply, bytes, false);
  }

  /** Handles a message of the caller. A call that breaks the protocol, or exceeds a limit, fails. Never throws. */
  receive(bytes: Uint8Array): void {
    this.unheard = 0;
    if (this.isOver) return;
    try {
      const received = this.#conversation.receive(bytes);
      if (received) this.#handle(received);
      else if (this.#state === "answering" && !this.#conversation.waits) this.#over();
      else if (this.#state === "receiving" && !this.#conversation.receiving) throw malformed("a call does not begin");
    } catch (reason) {
      this.abort(reason);
    }
  }

  /** Ends the call with an error, and cancels its task. */
  abort(reason: unknown): void {
    if (this.isOver) return;
    this.#stopTask(reason);
    this.#conversation.drop();
    this.#state = "running"; // an answer whose parts were under way is given up
    this.#fail(reason);
  }

  /** Ends a call of which a lost message would never be missed: a stream, progress, a large value under way. */
  interrupted(): void {
    const several = this.#stream !== undefined || this.#inputs !== undefined || this.#progress !== undefined;
    if (!several && !this.#conversation.receiving && !this.#conversation.waits) return;
    const what = "the connection of the worker process was interrupted, and messages of the call may be lost";
    this.abort(new ClearwayError("worker-lost", what));
  }

  /** Whether the call only waits until its caller takes the rest of a large answer. */
  get waitsForCaller(): boolean {
    return this.#state === "answering" && this.#conversation.waits;
  }

  /** Ends the call without an answer, because its caller is gone. */
  abandon(why: ClearwayError): void {
    if (this.isOver) return;
    this.#stopTask(why);
    this.#over();
  }

  #handle({ message, bytes, large }: Received): void {
    const op = message[0];
    if (this.#state === "receiving") {
      if (op === Op.cancel) return this.#cancel(message[1]);
      const call = callOf(message);
      this.#state = "running";
      const argumentBytes = bytes + weightOf(call.args) + inputBytes * (call.options?.inputs?.length ?? 0);
      this.account.take(argumentBytes);
      this.#argumentBytes = argumentBytes;
      return this.#run(call, large);
    }
    if (op === Op.cancel) return this.#cancel(message[1]);
    if (this.#state === "answering") return; // the caller does not know yet that the task has ended
    if (op === Op.credit) return this.#credit(message);
    if (op === Op.items) return this.#input(message[1]).add(message[2], bytes);
    if (op === Op.end) return this.#input(message[1]).end(message[2]);
    if (op === Op.abort) return this.#input(message[1]).fail(errorFromPlain(message[2]));
    throw malformed(`a caller sent the op ${op}`);
  }

  #run({ task, args, options }: WireCall, large: boolean): void {
    this.#host.checkTask(task);
    this.task = task;
    let call = args as unknown[];
    // The lists of numbers in the arguments have memory of their own. Moving it costs a message more, so that of small ones is copied.
    if (large) call = call.map((each) => (ArrayBuffer.isView(each) ? move(each) : each));
    let answer: unknown;
    if (options === undefined) answer = this.account.plain(this.#host.isLong(task))[task]!(...call);
    else {
      for (const index of options.inputs ?? []) call[index] = this.#openInput(index);
      answer = this.#host.pool.with(this.#settingsOf(options)).call[task]!(...call);
    }
    if (!isStream(answer)) {
      this.#work = answer as Promise<unknown>;
      this.#work.then(
        (value) => this.#result(value),
        (reason) => this.#failed(reason),
      );
    } else this.#send(answer, options?.window);
  }

  #settingsOf({ timeoutMs, deadlineMs, key, priority, progress, window }: WireCallOptions): CallOptions {
    this.#controller = new AbortController();
    if (progress) {
      this.#progress = new ProgressSender(
        this.codec,
        (bytes) => this.#conversation.send(bytes),
        (reason) => this.abort(reason),
        () => this.#host.drained(),
      );
    }
    const sender = this.#progress;
    return {
      signal: this.#controller.signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(key !== undefined && { key }),
      ...(priority !== undefined && { priority }),
      ...(sender && { onProgress: (value: unknown) => sender.add(value) }),
      ...(window && window.items > 0 && { window: bounded(window) }),
    };
  }

  #openInput(index: number): AsyncIterable<unknown> {
    const incoming = new Incoming(inputWindow, {
      grant: ({ items, bytes }) => this.#conversation.send(this.codec.encode([Op.credit, index, items, bytes])),
      charge: this.account,
    });
    this.#inputs ??= new Map();
    this.#inputs.set(index, incoming);
    const iterator: AsyncIterator<unknown> = {
      next: () => incoming.next(false),
      async return() {
        incoming.end(undefined);
        incoming.drop();
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  #input(index: unknown): Incoming {
    const incoming = this.#inputs?.get(index as number);
    if (incoming === undefined) throw malformed("values belong to no stream");
    return incoming;
  }

  #send(stream: Stream<unknown>, window: Grant | undefined): void {
    this.#stream = stream;
    // Also for a caller that takes no stream: it then knows what the task is.
    this.post(this.codec.encode([Op.accepted, true]));
    if (window === undefined) throw malformed("the task is a stream, and the caller takes none");
    this.#outgoing = new Outgoing(-1, stream.batches(), {
      codec: this.codec,
      send: (bytes) => this.#conversation.send(bytes),
      drained: () => this.#host.drained(),
      ended: (value) => this.#answer(this.#endOf(value)),
      failed: (reason) => {
        this.#endStream(stream); // a value could not be encoded, so the task still runs
        this.#fail(reason);
      },
    });
    if (window.items > 0) this.#outgoing.grant(window.items, window.bytes);
  }

  #credit([, index, items, bytes]: readonly unknown[]): void {
    if (index !== -1 || this.#outgoing === undefined) throw malformed("credit belongs to no stream");
    this.#outgoing.grant(items, bytes);
  }

  #cancel(code: unknown): void {
    if (this.cancelled) return;
    this.cancelled = true;
    const why = new ClearwayError(
      code === "deadline" ? "deadline" : "cancelled",
      code === "deadline" ? "the caller's deadline is over" : "the caller cancelled the call",
    );
    const { state, stream } = { state: this.#state, stream: this.#stream };
    if (state !== "running") return this.abort(why);
    if (stream === undefined) {
      this.#controller?.abort(why);
      // Only the end of its caller stops the task of a call without options. Its result then has no reader.
      if (this.#controller === undefined) this.#fail(why);
      return;
    }
    // The answer follows when the task's `finally` has run. Values that wait for credit would be in its way.
    this.#outgoing?.stop();
    this.#conversation.drop();
    const end = (): void => this.#fail(why);
    stream.return().then(end, end);
  }

  #stopTask(reason: unknown): void {
    this.#controller?.abort(reason);
    this.#outgoing?.stop();
    if (this.#stream !== undefined) this.#endStream(this.#stream);
  }

  // Ends a stream. Its work ends when the task's `finally` has run.
  #endStream(stream: Stream<unknown>): void {
    this.#work = stream.return();
    this.#work.catch(() => {});
  }

  #result(value: unknown): void {
    this.#work = undefined;
    if (this.isOver) return;
    let bytes: Uint8Array;
    // Results that the network does not take in time wait in this process. Large ones are charged in any case.
    let charged = 0;
    try {
      bytes = encodeResult(this.codec, value);
      if (bytes.length <= this.payloadMax && this.#host.drained() !== undefined) {
        this.account.sending.take(bytes.length);
        charged = bytes.length;
      }
    } catch (reason) {
      return this.#fail(reason);
    }
    this.#answer(bytes);
    if (charged > 0) this.account.sending.give(charged);
  }

  #failed(reason: unknown): void {
    this.#work = undefined;
    if (!this.isOver) this.#fail(reason);
  }

  #fail(reason: unknown): void {
    this.#answer(encodeFailure(this.codec, reason, Math.min(this.payloadMax, 1 << 18)));
  }

  #answer(bytes: Uint8Array): void {
    if (this.#state !== "running" && this.#state !== "receiving") return;
    this.#progress?.flush();
    if (this.isOver) return; // a value of the progress could not be encoded, and the call has failed with that
    this.#state = "answering";
    if (bytes.length > this.messageBytesMax) return this.#tooLarge(bytes.length);
    if (bytes.length <= this.payloadMax && !this.#conversation.waits) {
      this.#host.answer(this.reply, bytes, true);
      return this.#over();
    }
    try {
      this.#conversation.send(bytes);
    } catch (reason) {
      this.#conversation.drop();
      this.#state = "running";
      return this.#fail(reason);
    }
    if (!this.#conversation.waits) this.#over();
  }

  #tooLarge(bytes: number): void {
    this.#state = "running";
    const limit = this.messageBytesMax;
    this.#fail(
      new ClearwayError("too-large", `the result has ${bytes} bytes, and the limit of the worker is ${limit}`),
    );
  }

  #endOf(value: unknown): Uint8Array {
    try {
      return this.codec.encode([Op.end, -1, value]);
    } catch {
      return this.codec.encode([Op.end, -1, null]); // a `for await` ignores the return value
    }
  }

  #over(): void {
    this.#state = "over";
    this.#conversation.drop();
    this.#progress?.drop();
    if (this.#inputs) {
      const why = new ClearwayError("cancelled", "the call has ended");
      for (const each of this.#inputs.values()) {
        each.fail(why);
        each.drop();
      }
    }
    this.#host.forget(this);
    // A caller that starts calls and cancels them pays for each one until its work has ended.
    const ended = (): void => {
      this.account.give(this.#argumentBytes);
      this.#host.ended(this);
    };
    if (this.#work === undefined) ended();
    else this.#work.then(ended, ended);
  }
}

function isStream(answer: unknown): answer is Stream<unknown> {
  return typeof (answer as Partial<Stream<unknown>>)[Symbol.asyncIterator] === "function";
}

const bounded = ({ items, bytes }: Grant): Grant => ({
  items: Math.min(items, creditMax.items),
  bytes: Math.max(1, Math.min(bytes, creditMax.bytes)),
});
