// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { MovedValue } from "../../transfer/move.js";
import { atOnce, attaches, type Codec, codecError, encodeWithin, type MethodCodec, outOfBand } from "../codec/codec.js";
import { inlined } from "../codec/standard.js";
import { type ChannelTransport, type CloseReason, isShared } from "../transport/transport.js";
import { type ErrorParts, partsOf, writeError } from "../wire/error-body.js";
import {
  Flag,
  type FrameParts,
  frameBytesMin,
  type Hello,
  headBytes,
  padded,
  type WireName,
  writeFrame,
} from "../wire/frame.js";
import {
  type AttachmentRules,
  Attachments,
  emptyLedger,
  enterCopy,
  noteArrived,
  type Ownership,
} from "./attachments.js";
import { type EndpointSettings, inlineBytes, tooLarge, trustedValuesMax, valuesMax } from "./options.js";
import {
  checkMethod,
  cloneMessageCodec,
  cloneMethodCodec,
  type Encoded,
  OutgoingValue,
  type Received,
  readCloned,
  valueFrame,
} from "./outgoing-value.js";
import { countValues } from "./search-value.js";
import type { ByteBudget } from "./source-queue.js";
import { failed, guarded, roomOf } from "./transport-calls.js";

// All encoded messages have the same properties in the same order, which keeps the code that reads them fast.
export const nothing: Encoded = { body: new Uint8Array(), flags: 0, attachments: undefined, value: undefined };

const none: readonly Uint8Array[] = [];
// Maximum number of cached names. An app uses few different names. Only this end's code adds names to the cache; the peer
// cannot.
const namesKept = 1024;

/**
 * The connection to the other end, after the hello. Encodes values into frames and keeps the ledger of copied bytes. It does
 * not know about calls and streams.
 */
export class Connection {
  readonly ledger = emptyLedger();
  /** The reason why nothing can be sent any more. Undefined while the transport is open. */
  reason: CloseReason | undefined;
  /** Whether this end is closing and starts nothing new. */
  closing = false;
  /** Whether the transport is congested: a `send` returned false, and `drained` was not called since. */
  congested = false;
  /** Number of calls of `drained`. */
  drains = 0;
  /** Bytes of the message that made the transport congested. The other end may have to read all of them before there is room. */
  fillingBytes = 0;
  readonly #transport: ChannelTransport;
  readonly #rules: AttachmentRules;
  /** An instance without attachments, for the next message. */
  #spare: Attachments | undefined;
  readonly #names = new Map<string, Uint8Array>();
  /** Maximum size of a body that fits into a frame with any name, in bytes. */
  readonly bodyBytesMax: number;
  /** Counts the bytes of events that wait for the other end. */
  readonly queued: ByteBudget;
  /** Whether the other end receives errors in full. */
  readonly #exposes: boolean;
  readonly #frameBytesMax: number;
  readonly #nameBytesMax: number;
  readonly valuesMax: number;
  /** Whether the values of structured clone are counted. A program's own end has taken their memory already. */
  readonly #countsValues: boolean;
  readonly #lost: (reason: CloseReason) => void;

  constructor(
    transport: ChannelTransport,
    readonly settings: EndpointSettings,
    readonly wire: WireName,
    there: Hello | undefined,
    /** Whether both ends take values by structured clone. */
    readonly clones: boolean,
    /** Called if the transport threw while it was closed. */
    lost: (reason: CloseReason) => void,
  ) {
    this.#transport = transport;
    this.#lost = lost;
    const { moves, shares } = transport;
    const { attachmentBytesMin: bytesMin, strict } = settings;
    const ours = wire === "clearway";
    this.queued = { bytes: 0, bytesMax: settings.replyBytesMax };
    this.#exposes = settings.exposeErrors ?? transport.trusted === true;
    this.valuesMax = settings.valuesMax ?? (transport.trusted === true ? trustedValuesMax : valuesMax);
    this.#countsValues = settings.valuesMax !== undefined || transport.trusted !== true;
    this.#rules = { bytesMin, moves: ours && moves, shares: ours && shares, strict };
    this.#frameBytesMax = Math.min(transport.frameBytesMax, there?.frameBytesMax ?? transport.frameBytesMax);
    // Half of the smallest allowed frame stays free for the parts that follow a name.
    const nameMax = Math.min(settings.nameBytesMax, this.#frameBytesMax - frameBytesMin / 2);
    this.#nameBytesMax = Math.min(nameMax, there?.nameBytesMax ?? nameMax);
    this.bodyBytesMax = this.#frameBytesMax - headBytes - padded(this.#nameBytesMax);
  }

  /** The codec of channels that name none. */
  get codec(): "clone" | "standard" {
    return this.clones ? "clone" : "standard";
  }

  /** Whether nothing new may start. */
  get over(): boolean {
    return this.closing || this.reason !== undefined;
  }

  /**
   * Throws `invalid-argument` for a name that is too long for this end. The other end's limit is checked only when a name is
   * sent. If a peer announces a small limit, calls to that peer fail, but registering handlers for it does not.
   */
  checkName(name: string): void {
    const { nameBytesMax } = this.settings;
    if (typeof name !== "string") throw invalid("name", "a string", name);
    if (new TextEncoder().encode(name).length > nameBytesMax)
      throw invalid("name", `at most ${nameBytesMax} bytes`, name);
  }

  /** Returns a name's bytes for sending. Throws `invalid-argument` for a name that is too long for one of the ends. */
  name(name: string): Uint8Array {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(name);
    const most = this.#nameBytesMax;
    if (bytes.length > most) throw invalid("name", `at most ${most} bytes, as the other end takes`, name);
    if (this.#names.size >= namesKept) this.#names.clear();
    this.#names.set(name, bytes);
    return bytes;
  }

  /** Encodes a value, or the value that `move()` marked. Moves no memory yet. Throws the codec's errors and `would-copy`. */
  encode<T>(codec: Codec<unknown, T>, given: T, ownership: "kept" | "result"): Encoded {
    const cloned = codec === cloneMessageCodec ? this.#clone(given, undefined, ownership) : undefined;
    if (cloned !== undefined) return cloned;
    const moved = given instanceof MovedValue;
    return this.#encodeBytes(codec, moved ? (given.value as T) : given, moved ? "move" : ownership);
  }

  /** Encodes a method's call. Throws the same errors as `encode`. */
  encodeCall(codec: MethodCodec, method: string, given: unknown): Encoded {
    const cloned = codec === cloneMethodCodec ? this.#clone(given, checkMethod(method), "kept") : undefined;
    if (cloned !== undefined) return cloned;
    const moved = given instanceof MovedValue;
    return this.#encodeBytes(codec.call, { method, args: moved ? given.value : given }, moved ? "move" : "kept");
  }

  /** Encodes a method's result or an event. Throws the same errors as `encode`. */
  encodeSuccess(codec: MethodCodec, given: unknown): Encoded {
    const cloned = codec === cloneMethodCodec ? this.#clone(given, undefined, "result") : undefined;
    if (cloned !== undefined) return cloned;
    const moved = given instanceof MovedValue;
    const value = moved ? given.value : given;
    return this.#encodeBytes(codec.reply, { kind: "success", value }, moved ? "move" : "result");
  }

  /** Returns the message of a value that crosses by structured clone. Returns undefined for a value that has to cross as bytes. */
  #clone(given: unknown, method: string | undefined, ownership: Ownership): Encoded | undefined {
    const value = new OutgoingValue(given, method, ownership, this.#rules);
    // `float64()` tells integers and floats apart for other languages, to which the message may be forwarded. Only bytes carry that.
    return value.hasFloats ? undefined : { body: nothing.body, flags: 0, attachments: undefined, value };
  }

  #encodeBytes<T>(codec: Codec<unknown, T>, value: T, ownership: Ownership): Encoded {
    if ((this.wire !== "clearway" && ownership !== "move") || !attaches(codec))
      return { body: this.#write(codec, value), flags: 0, attachments: undefined, value: undefined };
    const isBinary = codec.name === "binary" && value instanceof Uint8Array;
    // Values count for the largest frame, and attachments do not.
    const crosses = isBinary && value.byteLength >= this.#rules.bytesMin && value.byteLength <= this.bodyBytesMax;
    if (crosses && this.clones && ownership !== "kept") {
      const outgoing = new OutgoingValue(value, undefined, ownership, this.#rules);
      return { body: nothing.body, flags: Flag.whole, attachments: undefined, value: outgoing };
    }
    const attachments = this.#spare ?? new Attachments(this.#rules);
    // Cleared while in use, because a getter or an extension may send another message.
    this.#spare = undefined;
    attachments.ownership = ownership;
    if (isBinary && attachments.take(value) >= 0)
      return { body: nothing.body, flags: Flag.whole, attachments, value: undefined };
    outOfBand.sink = attachments;
    outOfBand.mayShareBuffer = true;
    try {
      const body = this.#write(codec, value);
      if (attachments.list.length > 0) return { body, flags: 0, attachments, value: undefined };
      this.#spare = attachments;
      return { body, flags: 0, attachments: undefined, value: undefined };
    } finally {
      outOfBand.sink = undefined;
      outOfBand.mayShareBuffer = false;
    }
  }

  #write<T>(codec: Codec<unknown, T>, value: T): Uint8Array {
    return encodeWithin(codec, value, this.#frameBytesMax - headBytes);
  }

  /**
   * Decodes a message that arrived. The two ends may use different codecs, for example if one end forwards messages as bytes.
   * Any codec can read a message that the binary codec wrote, and the binary codec can read the message of any codec. Throws
   * the codec's errors.
   */
  decode<T>(codec: Codec<T, never>, { body, flags, attachments, fillsBuffer, value }: Received): T {
    if (value !== undefined && (flags & Flag.whole) === 0) {
      if (this.#countsValues && countValues(value.value, this.valuesMax) > this.valuesMax)
        throw codecError("too-large", `more than ${this.valuesMax} values in a message`, 0);
      noteArrived(value.value);
      return readCloned(codec, value);
    }
    const binary = codec.name === "binary" && attaches(codec);
    if ((flags & Flag.whole) !== 0) {
      const bytes = value === undefined ? attachments[0] : value.value;
      if (!(bytes instanceof Uint8Array) || attachments.length > 1)
        throw codecError("malformed", "a message that is bytes alone", 0);
      if (this.#transport.moves) noteArrived(bytes);
      if (binary) return bytes as T;
      return this.decode(codec, { body: bytes, flags: 0, attachments: none, fillsBuffer: true });
    }
    outOfBand.valuesMax = this.valuesMax;
    try {
      if (attachments.length > 0 && (binary || !attaches(codec))) {
        const whole = inlined(body, attachments, this.#transport.frameBytesMax);
        return this.decode(codec, { body: whole, flags: 0, attachments: none, fillsBuffer: true });
      }
      outOfBand.attached = attachments.length > 0 ? attachments : undefined;
      return atOnce(codec.decode(body, { owned: fillsBuffer }));
    } finally {
      outOfBand.attached = undefined;
      outOfBand.valuesMax = undefined;
    }
  }

  /** Sends a frame with a message. Throws `too-large` before it has sent anything. A closed connection drops the frame. */
  send(parts: FrameParts, { body, flags, attachments, value }: Encoded = nothing): void {
    if (this.reason !== undefined) return;
    const own = (parts.flags ?? 0) | flags;
    if (this.clones && attachments === undefined && body.length === 0) return this.#sendValue(parts, own, value);
    const frame = attachments
      ? this.#withAttachments(parts, own, body, attachments)
      : writeFrame(parts, { flags: own, body, inlineAttachments: undefined, separateCount: 0 });
    if (frame.length > this.#frameBytesMax) throw tooLarge(frame.length, this.#frameBytesMax);
    const separate = attachments && this.#transport.moves ? attachments.list : none;
    // Before the transport moves the attachments away.
    let bytes = frame.length;
    for (const { length } of separate) bytes += length;
    const { drains } = this;
    this.#sent(this.#transport.send(frame, separate), bytes, drains);
    if (body.length > 0) enterCopy(this.ledger.sent, "encoded", body.length);
    attachments?.enter(this.ledger.sent);
  }

  #sendValue(parts: FrameParts, own: number, message: OutgoingValue | undefined): void {
    if (message && headBytes + message.bytes > this.#frameBytesMax) throw tooLarge(message.bytes, this.#frameBytesMax);
    const frame = valueFrame(parts, own, message);
    const { drains } = this;
    // The transport has `sendValue`, because both ends clone.
    this.#sent(this.#transport.sendValue?.(frame, message?.transfer), frame.bytes, drains);
    if (message === undefined) return;
    const { sent } = this.ledger;
    sent.movedBytes += message.movedBytes;
    sent.sharedBytes += message.sharedBytes;
    if (message.copies.length === 0) return;
    for (const [reason, bytes, lists] of message.copies) enterCopy(sent, reason, bytes, lists);
  }

  // Control frames are sent also while the transport is congested. They are small.
  #sent(room: unknown, bytes: number, drains: number): void {
    // A transport of the app may have called `drained` already.
    if (roomOf(room) || drains !== this.drains) return;
    if (!this.congested) this.fillingBytes = bytes;
    this.congested = true;
  }

  /**
   * Sends a control frame, which is small and always fits. Never throws. If the transport throws, the connection closes the
   * transport.
   */
  control(parts: FrameParts, message: Encoded = nothing): void {
    try {
      this.send(parts, message);
    } catch (cause) {
      this.close(failed(cause));
    }
  }

  /**
   * Encodes an error for a failed reply or a stream's end on Clearway's wire. Leaves out the parts that the other end may not
   * receive. Never throws.
   */
  errorBody(thrown: unknown, channel: string): Encoded {
    return { ...nothing, body: writeError(this.#redacted(thrown, channel), this.bodyBytesMax, this.#exposes) };
  }

  /** Returns the parts of an error that the other end may receive, for the plain wire. Never throws. */
  errorParts(thrown: unknown, channel: string): ErrorParts {
    return partsOf(this.#redacted(thrown, channel), this.#exposes);
  }

  #redacted(thrown: unknown, channel: string): unknown {
    const { redactError } = this.settings;
    if (redactError === undefined) return thrown;
    try {
      return redactError(thrown, channel);
    } catch (error) {
      this.report(error, channel);
      return "an error that is not told";
    }
  }

  /** Passes an error that no caller receives to `onError`. Never throws. */
  report(error: unknown, channel: string): void {
    try {
      this.settings.onError(error, channel);
    } catch (thrown) {
      console.error("clearway/channel, onError threw:", thrown);
    }
  }

  /**
   * Returns the error for a message that is too large for a frame, even without a name. Returns undefined if the message fits.
   */
  tooLarge({ body, attachments, value }: Encoded): ClearwayError | undefined {
    if (value !== undefined) {
      const bytes = headBytes + value.bytes;
      return bytes > this.#frameBytesMax ? tooLarge(bytes, this.#frameBytesMax) : undefined;
    }
    const inline = this.#transport.moves ? none : (attachments?.list ?? none);
    const size = headBytes + inlineBytes(body, inline);
    return size > this.#frameBytesMax ? tooLarge(size, this.#frameBytesMax) : undefined;
  }

  #withAttachments(parts: FrameParts, flags: number, body: Uint8Array, { list }: Attachments): Uint8Array {
    if (this.#transport.moves)
      return writeFrame(parts, { flags, body, inlineAttachments: undefined, separateCount: list.length });
    const size = headBytes + inlineBytes(body, list);
    if (size > this.#frameBytesMax) throw tooLarge(size, this.#frameBytesMax);
    return writeFrame(parts, { flags, body, inlineAttachments: list, separateCount: 0 });
  }

  /** Counts a received message in the ledger. */
  arrived({ body, attachments, value }: Received): void {
    const { received } = this.ledger;
    if (value !== undefined) {
      received.copiedBytes += value.copied;
      received.movedBytes += value.moved;
      received.sharedBytes += value.shared;
      return;
    }
    received.copiedBytes += body.length;
    for (const { buffer, length } of attachments) {
      if (isShared(buffer)) received.sharedBytes += length;
      else if (this.#transport.moves) received.movedBytes += length;
      else received.copiedBytes += length;
    }
  }

  /** Closes the transport because the other end broke the protocol. */
  broken(what: string): void {
    this.close({ code: "protocol", message: what });
  }

  /** Closes the transport. Never throws. A transport that throws counts as closed. */
  close(reason: CloseReason): void {
    guarded(
      () => this.#transport.close(reason),
      (cause) => this.#lost(failed(cause)),
    );
  }

  /** Pauses the transport, or resumes it if `on` is false. Does nothing if the transport cannot pause. Never throws. */
  pause(on = true): void {
    guarded(
      () => (on ? this.#transport.pause?.() : this.#transport.resume?.()),
      (cause) => this.close(failed(cause)),
    );
  }

  resume(): void {
    this.pause(false);
  }

  /** Returns the error for work that ended because the transport closed. */
  closedError(what: string): ClearwayError {
    const { message = "closed", cause } = this.reason ?? {};
    const error = new ClearwayError("transport-closed", `${what}: ${message}`, cause === undefined ? {} : { cause });
    return Object.assign(error, { reason: this.reason });
  }
}
