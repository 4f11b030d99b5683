// SPDX-License-Identifier: MIT OR Apache-2.0
import { abortOf, onAbort } from "./abort.js";
import type { Addon, Handle, ViewKind } from "./addon.js";
import { abortSignal, checked, list, type Rules } from "./checked.js";
import { Records } from "./decode.js";
import { invalid, logLater, NativeError, notDirectError, type OnLog, statusError, statuses, textOf } from "./error.js";
import { emptySide, type NativeLedger } from "./ledger.js";
import { Loans } from "./loans.js";
import { type MemoryOwner, NativeMemory } from "./memory.js";
import {
  type Attachments,
  handleOf,
  LentMemory,
  type MessageSink,
  type NativeMessage,
  nullMessage,
  type Payload,
  type StreamSink,
  toAddonPayload,
} from "./message.js";
import { Pump, type RecordSink } from "./pump.js";
import { kind } from "./record.js";

/** A call whose promise has not settled. */
interface PendingCall {
  readonly channel: string;
  /** The number of the loan of the message's bytes. Undefined if the bytes are not lent. */
  loan: number | undefined;
  resolve(message: NativeMessage): void;
  reject(error: unknown): void;
}

/** Options of `Port.send`, as `SendOptions` describes them. */
interface PortSendOptions {
  attachments?: Attachments;
  signal?: AbortSignal;
  givesBytes?: boolean;
}

const sendRules: Rules = { attachments: list, signal: abortSignal, givesBytes: "boolean" };
const noOptions: PortSendOptions = {};

/** One plugin instance of one JavaScript thread. It tracks the open calls, streams and loans. */
export class Port implements MemoryOwner, RecordSink {
  readonly port: object;
  readonly ledger: NativeLedger = { toNative: emptySide(), fromNative: emptySide() };
  readonly fromNative = this.ledger.fromNative;
  readonly handlers = new Map<string, MessageSink>();
  leaked = 0;
  /** The number of the next call, stream or loan. */
  #nextId = 1;
  /** Whether the port keeps the process alive. */
  #keepsAlive = false;
  #closing: Promise<void> | undefined;
  /** Resolves `#closing`. Undefined unless the plugin is closing. */
  #closed: (() => void) | undefined;
  readonly #pending = new Map<number, PendingCall>();
  readonly #streams = new Map<number, StreamSink>();
  readonly loans: Loans;
  /** The number of loans that JavaScript has ended and native code has not returned yet. */
  #loansEnded = 0;
  // Receives the answers of direct calls. It is separate, because a direct call may run while the pump reads the records of `drain`.
  readonly #answer: Records;
  // The addon's function `call`, for all channels. V8 calls a native function faster from a call site that has called no other function.
  readonly #call: Addon["call"];

  constructor(
    readonly addon: Addon,
    readonly path: string,
    readonly views: ViewKind,
    readonly onLog: OnLog,
  ) {
    const lentView = (id: number): Uint8Array | undefined => this.loans.viewOf(id);
    const drained = new Records(this, lentView);
    this.#answer = new Records(this, lentView);
    const pump = new Pump(drained, () => this.addon.drain(this.port), this);
    const { heads, body } = this.#answer;
    const opened = addon.open(path, drained.heads, drained.body, heads, body, pump.run);
    if (typeof opened === "number") throw statusError(opened, path, this.#answer.text(0));
    this.port = opened;
    this.#call = addon.call;
    this.loans = new Loans(this, this.ledger.toNative, () => this.#nextId++);
  }

  get closing(): boolean {
    return this.#closing !== undefined;
  }

  /** Prepares direct calls of a channel. Returns the number of its line (the prepared path to the handler), for `call`. */
  line(channel: string): number {
    this.#checkOpen();
    return this.addon.prepareLine(this.port, channel);
  }

  /** Calls a channel's handler at once, on this thread. `line` is the number of the channel's line. */
  call(line: number, channel: string, payload: Payload, attachments: Attachments | undefined): NativeMessage {
    if (this.#closing !== undefined) this.#checkOpen();
    const call = this.#call;
    let result: ReturnType<Addon["call"]>;
    if (attachments !== undefined) result = call(line, toAddonPayload(payload), this.#handles(attachments));
    else if (payload === null) result = call(line);
    else if (payload instanceof LentMemory) {
      result = call(line, payload.handle, undefined, true);
      if (result === true) {
        this.ledger.toNative.sharedBytes += payload.lentBytes;
        this.fromNative.sharedBytes += payload.lentBytes;
        return payload.message;
      }
    } else if (payload instanceof Uint8Array) result = call(line, payload);
    else result = call(line, handleOf(payload));
    if (result === 3) throw notDirectError(channel); // the handler did not run
    if (payload !== null)
      this.ledger.toNative.sharedBytes += payload instanceof Uint8Array ? payload.byteLength : payload.size;
    if (result === undefined) return nullMessage;
    if (result === 2) throw notDirectError(channel);
    const answer = this.#answer;
    const status = answer.get(0, "status");
    if (status !== 0) throw statusError(status, channel, answer.text(0));
    return answer.message(0);
  }

  /**
   * Sends a message and resolves with its answer. When `signal` aborts, rejects with its reason, tells the plugin that the caller no longer
   * waits, and drops the answer. If the signal throws, it counts as aborted, and the thrown value is the reason.
   *
   * Copies the bytes if there is a signal, because the handler may still use them after an abort. With `givesBytes`, lends them, and settles
   * when the handler has ended, also after an abort.
   */
  send(channel: string, payload: Payload, options?: PortSendOptions): Promise<NativeMessage> {
    return new Promise((resolve, reject) => {
      const settings = options === undefined ? noOptions : checked(options, sendRules);
      const { attachments, signal, givesBytes = false } = settings;
      const aborted = abortOf(signal);
      // Checks after the signal was read, because the signal's getters may close the plugin.
      this.#checkOpen();
      if (aborted) return reject(aborted.reason);
      const id = this.#nextId++;
      const abort = (reason: unknown): void => {
        if (!this.#pending.has(id)) return;
        if (!givesBytes) {
          this.#pending.delete(id);
          reject(reason);
        }
        this.addon.cancel(this.port, id);
        this.#updateKeepsAlive();
      };
      let removeAbortListener = (): void => {};
      const call: PendingCall = {
        channel,
        loan: undefined,
        resolve(message) {
          removeAbortListener();
          resolve(message);
        },
        reject(error) {
          removeAbortListener();
          reject(error);
        },
      };
      this.#pending.set(id, call);
      // If a step throws, for example because a memory was released, no message was sent and no answer will arrive.
      try {
        const attached = attachments && this.#handles(attachments);
        const status = this.loans.withPayload(payload, signal === undefined || givesBytes, (given, loan) => {
          call.loan = loan;
          return attached
            ? this.addon.send(this.port, channel, id, given, attached)
            : this.addon.send(this.port, channel, id, given);
        });
        if (status !== 0) throw statusError(status, channel);
      } catch (error) {
        this.#pending.delete(id);
        throw error;
      }
      if (signal) removeAbortListener = onAbort(signal, abort);
      this.#updateKeepsAlive();
    });
  }

  listen(
    channel: string,
    window: readonly [number, number, number, number],
    payload: Payload,
    sink: StreamSink,
  ): number {
    this.#checkOpen();
    const id = this.#nextId++;
    this.#streams.set(id, sink);
    try {
      // Copies the bytes, because the caller does not learn when the source has read them.
      const status = this.loans.withPayload(payload, false, (given) =>
        this.addon.listen(this.port, channel, id, ...window, given),
      );
      if (status !== 0) throw statusError(status, channel);
    } catch (error) {
      this.#streams.delete(id);
      throw error;
    }
    this.#updateKeepsAlive();
    return id;
  }

  grant(stream: number, items: number): void {
    if (this.#streams.has(stream)) this.addon.grant(this.port, stream, items);
  }

  unlisten(stream: number): void {
    if (!this.#streams.delete(stream)) return;
    this.addon.unlisten(this.port, stream);
    this.#updateKeepsAlive();
  }

  allocate(size: number): NativeMemory {
    this.#checkOpen();
    const handle = this.addon.allocate(this.port, size);
    if (handle < 0) throw statusError(-handle, "allocate");
    return new NativeMemory(this, handle);
  }

  lend(bytes: Uint8Array): LentMemory {
    this.#checkOpen();
    if (!this.loans.areSupported)
      throw new NativeError("would-copy", "this Node cannot keep JavaScript's memory: use allocate()");
    let returned = (): void => {};
    const returnedPromise = new Promise<void>((resolve) => {
      returned = resolve;
    });
    const loan = this.loans.start(bytes, returned);
    if (loan === undefined) {
      throw new NativeError(
        "invalid-argument",
        "bytes must not be in a resizable ArrayBuffer, which may shrink while native code has it: use a buffer of fixed " +
          `size, or allocate(): bytes.byteLength=${bytes.byteLength}`,
      );
    }
    return new LentMemory(this, loan.handle, bytes, returnedPromise);
  }

  release(handle: Handle): void {
    this.addon.release(this.port, handle);
  }

  /** Ends JavaScript's part of a loan. Keeps the process alive until native code returns the loan, because code may wait for that. */
  endLoan(handle: Handle, returned: Promise<void>): void {
    this.#loansEnded++;
    this.#updateKeepsAlive();
    this.release(handle);
    void returned.then(() => this.#loansEnded--).then(() => this.#updateKeepsAlive());
  }

  /**
   * Answers a message of the plugin. Throws if the payload cannot be sent. The message then still needs an answer. Does nothing after the
   * close, which has answered the message: the return of lent bytes would never be read.
   */
  answer(reply: Handle, payload: Payload): void {
    if (this.#closing !== undefined && this.#closed === undefined) return;
    const status = this.loans.withPayload(payload, true, (given) => this.addon.answer(this.port, reply, 0, given));
    if (status !== 0) throw statusError(status, "answer");
  }

  answerError(reply: Handle, status: number, text: string): void {
    this.addon.answer(this.port, reply, status, text);
  }

  /** Closes the instance, as `Plugin.close` describes. Settles when the plugin's code no longer runs for the instance. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      const closing = new Promise<void>((resolve) => {
        this.addon.close(this.port); // if this throws, nothing has changed, and the caller may try to close again
        this.#closed = resolve;
      });
      if (this.#closed === undefined) return closing;
      this.#closing = closing;
      this.#updateKeepsAlive();
    }
    return this.#closing;
  }

  // The pump calls the following methods for the records that it reads.

  reply(records: Records, record: number): void {
    const id = records.get(record, "id");
    const call = this.#pending.get(id);
    const status = records.get(record, "status");
    const message = status === 0 ? records.message(record) : undefined;
    if (!call) return message?.release();
    if (message) {
      this.#pending.delete(id);
      call.resolve(message);
    } else {
      const error = statusError(status, call.channel, records.text(record));
      const reject = (): void => {
        if (this.#pending.delete(id)) call.reject(error);
      };
      // One second after `close`, the core answers the open calls. A handler that still runs may write to the bytes that its call has lent,
      // so the promise waits for their return. If that does not happen before the end of `close`, `closed` rejects the promise.
      const isStillLent = status === statuses.CLOSED && this.closing && this.loans.onReturn(call.loan, reject);
      if (!isStillLent) reject();
    }
    this.#updateKeepsAlive();
  }

  event(records: Records, record: number): void {
    const sink = this.#streams.get(records.get(record, "id"));
    const message = records.message(record);
    if (sink) sink.event(message);
    else message.release();
  }

  end(records: Records, record: number): void {
    const id = records.get(record, "id");
    const status = records.get(record, "status");
    const sink = this.#streams.get(id);
    this.#streams.delete(id);
    sink?.end(status === 0 ? undefined : statusError(status, "the stream ended", records.text(record)));
    this.#updateKeepsAlive();
  }

  dropped(stream: number, count: number): void {
    this.#streams.get(stream)?.eventsDropped(count);
  }

  message(records: Records, record: number): void {
    const channel = records.text(record);
    const message = records.message(record);
    const reply = records.get(record, "id");
    const sink = this.handlers.get(channel);
    if (sink && !this.closing) return sink(message, reply);
    message.release();
    this.answerError(reply, statuses.NO_HANDLER, `no handler for the channel: channel=${channel}`);
  }

  log(records: Records, record: number): void {
    logLater(this.onLog, records.get(record, "status"), records.text(record));
  }

  loanReturned(id: number): void {
    this.loans.end(id);
    this.#updateKeepsAlive();
  }

  closed(): void {
    const error = (): NativeError => new NativeError("closed", `the plugin was closed: ${this.path}`);
    for (const each of this.#pending.values()) each.reject(error());
    for (const each of this.#streams.values()) each.end(error());
    this.#pending.clear();
    this.#streams.clear();
    this.handlers.clear();
    this.#closed?.();
    this.#closed = undefined;
    this.#updateKeepsAlive();
  }

  failed(records: Records, record: number, error: unknown): void {
    const id = records.get(record, "id");
    switch (records.get(record, "kind")) {
      case kind.reply:
        this.#pending.get(id)?.reject(error);
        this.#pending.delete(id);
        this.#updateKeepsAlive();
        break;
      case kind.event: {
        const sink = this.#streams.get(id);
        this.unlisten(id);
        sink?.end(error);
        break;
      }
      case kind.message:
        this.answerError(id, statuses.FAILED, textOf(error));
        break;
      default:
        queueMicrotask(() => {
          throw error;
        });
    }
  }

  #handles(attachments: Attachments): Float64Array {
    if (!Array.isArray(attachments)) throw invalid("attachments", "an array", attachments);
    // First the handles: they are what refuses an attachment, and a refused message shares nothing.
    const handles = Float64Array.from(attachments, (each, at) =>
      handleOf(each, `attachments[${at}]`, "a NativeMemory or a LentMemory"),
    );
    this.ledger.toNative.sharedBytes += attachments.reduce((sum, each) => sum + each.size, 0);
    return handles;
  }

  #checkOpen(): void {
    if (this.#closing) throw new NativeError("closed", `the plugin is closed: ${this.path}`);
  }

  /** Keeps the process alive while code waits for an answer, an event, a loan's return or a close. Handlers do not keep it alive. */
  #updateKeepsAlive(): void {
    const keep = this.#pending.size > 0 || this.#streams.size > 0 || this.#loansEnded > 0 || this.#closed !== undefined;
    if (keep === this.#keepsAlive) return;
    this.#keepsAlive = keep;
    this.addon.setKeepsAlive(this.port, keep);
  }
}
