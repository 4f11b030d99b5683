// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import { MovedValue } from "../../transfer/move.js";
import type { Codec, MethodCodec } from "../codec/codec.js";
import { refusal } from "../codec/codec-error.js";
import { outOfBand } from "../codec/out-of-band.js";
import { inlined } from "../codec/standard.js";
import { isShared } from "../transport/limits.js";
import type { ChannelTransport, CloseReason } from "../transport/transport.js";
import { type ErrorParts, partsOf, writeError } from "../wire/error-body.js";
import { Flag, type FrameParts, headBytes, padded, writeFrame } from "../wire/frame.js";
import { frameBytesMin, type Hello, type WireName } from "../wire/hello.js";
import { type AttachmentRules, Attachments, type Giving } from "./attachments.js";
import { emptyLedger, enterCopy } from "./ledger.js";
import type { EndpointSettings } from "./options.js";
import type { QueueCharge } from "./source-queue.js";

/** A message as bytes, to be sent. */
export interface Encoded {
  readonly body: Uint8Array;
  readonly flags: number;
  /** Undefined where none could be. */
  readonly attachments: Attachments | undefined;
}

/** A message as bytes, as it came. */
export interface Received {
  readonly body: Uint8Array;
  readonly flags: number;
  readonly attachments: readonly Uint8Array[];
  /** Whether nothing else stands in the memory of the body. */
  readonly alone: boolean;
}

export const nothing: Encoded = { body: new Uint8Array(), flags: 0, attachments: undefined };

const none: readonly Uint8Array[] = [];
// Names are few and come again and again; a peer cannot fill this, only this end's own code.
const namesKept = 1024;

/** The way to the other end, once both have agreed: makes values frames, and keeps the ledger. Knows no calls and no streams. */
export class Link {
  readonly ledger = emptyLedger();
  /** Why nothing can be sent any more. */
  reason: CloseReason | undefined;
  /** Whether this end is closing, and begins nothing new. */
  closing = false;
  /** Whether the transport asked to hold back. */
  congested = false;
  readonly #transport: ChannelTransport;
  readonly #rules: AttachmentRules;
  /** One that took nothing, for the next message. */
  #spare: Attachments | undefined;
  readonly #names = new Map<string, Uint8Array>();
  /** A body of so many bytes fits into a frame, whatever name stands before it. */
  readonly bodyBytesMax: number;
  /** Events that wait for the other end. */
  readonly queued: QueueCharge;
  /** Whether errors cross whole. */
  readonly #exposes: boolean;
  readonly #frameBytesMax: number;
  readonly #nameBytesMax: number;

  constructor(
    transport: ChannelTransport,
    readonly settings: EndpointSettings,
    readonly wire: WireName,
    there: Hello | undefined,
  ) {
    this.#transport = transport;
    const { moves, shares } = transport;
    const { attachmentBytesMin: bytesMin, strict } = settings;
    const ours = wire === "clearway";
    this.queued = { bytes: 0, bytesMax: settings.replyBytesMax };
    this.#exposes = settings.exposeErrors ?? transport.trusted === true;
    this.#rules = { bytesMin, moves: ours && moves, shares: ours && shares, strict };
    this.#frameBytesMax = Math.min(transport.frameBytesMax, there?.frameBytesMax ?? transport.frameBytesMax);
    // Half of the smallest frame is left for what comes behind a name.
    const nameMax = Math.min(settings.nameBytesMax, this.#frameBytesMax - frameBytesMin / 2);
    this.#nameBytesMax = Math.min(nameMax, there?.nameBytesMax ?? nameMax);
    this.bodyBytesMax = this.#frameBytesMax - headBytes - padded(this.#nameBytesMax);
  }

  /** Whether nothing new may begin. */
  get over(): boolean {
    return this.closing || this.reason !== undefined;
  }

  /** Throws `invalid-argument` for a name that is too long at this end. */
  checkName(name: string): void {
    const { nameBytesMax } = this.settings;
    if (typeof name !== "string") throw invalid("name", "a string", name);
    if (new TextEncoder().encode(name).length > nameBytesMax)
      throw invalid("name", `at most ${nameBytesMax} bytes`, name);
  }

  /** The bytes of a name, to be sent. Throws `invalid-argument` for one that is too long for the other end. */
  name(name: string): Uint8Array {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(name);
    if (bytes.length > this.#nameBytesMax) throw invalid("name", `at most ${this.#nameBytesMax} bytes`, name);
    if (this.#names.size >= namesKept) this.#names.clear();
    this.#names.set(name, bytes);
    return bytes;
  }

  /** A value's message. Moves nothing yet. Throws what the codec throws, and `would-copy`. */
  encode<T>(codec: Codec<unknown, T>, given: T, giving: "kept" | "result"): Encoded {
    const moved = given instanceof MovedValue;
    return this.encodeAs(codec, moved ? (given.value as T) : given, moved ? "move" : giving);
  }

  /** A method's call. */
  encodeCall(codec: MethodCodec, method: string, given: unknown): Encoded {
    const moved = given instanceof MovedValue;
    return this.encodeAs(codec.call, { method, args: moved ? given.value : given }, moved ? "move" : "kept");
  }

  encodeAs<T>(codec: Codec<unknown, T>, value: T, giving: Giving): Encoded {
    if (this.wire !== "clearway" && giving !== "move")
      return { body: codec.encode(value), flags: 0, attachments: undefined };
    const attachments = this.#spare ?? new Attachments(this.#rules);
    // Away while it is used: a getter or an extension may send a message of its own.
    this.#spare = undefined;
    attachments.giving = giving;
    if (codec.name === "binary" && value instanceof Uint8Array && attachments.take(value) >= 0)
      return { body: nothing.body, flags: Flag.whole, attachments };
    outOfBand.sink = attachments;
    outOfBand.passing = true;
    try {
      const body = codec.encode(value);
      if (attachments.list.length > 0) return { body, flags: 0, attachments };
      this.#spare = attachments;
      return { body, flags: 0, attachments: undefined };
    } finally {
      outOfBand.sink = undefined;
      outOfBand.passing = false;
    }
  }

  /**
   * The value of a message that came. Bytes are bytes: one end may have written with the binary codec what the other reads with
   * its own, or the other way round, as whoever passes messages on does. Throws what the codec throws.
   */
  decode<T>(codec: Codec<T, never>, { body, flags, attachments, alone }: Received): T {
    const binary = codec.name === "binary";
    if ((flags & Flag.whole) !== 0) {
      const bytes = attachments[0];
      if (bytes === undefined || attachments.length > 1) throw refusal("malformed", "a message that is bytes alone", 0);
      return binary ? (bytes as T) : codec.decode(bytes, { owned: true });
    }
    if (binary && attachments.length > 0) return inlined(body, attachments, this.#transport.frameBytesMax) as T;
    outOfBand.attached = attachments.length > 0 ? attachments : undefined;
    try {
      return codec.decode(body, { owned: alone });
    } finally {
      outOfBand.attached = undefined;
    }
  }

  /** Sends a frame with a message. Throws `too-large`; then nothing has left. A closed link drops it. */
  send(parts: FrameParts, { body, flags, attachments }: Encoded = nothing): void {
    if (this.reason !== undefined) return;
    const own = (parts.flags ?? 0) | flags;
    const frame = attachments
      ? this.#withAttachments(parts, own, body, attachments)
      : writeFrame(parts, { flags: own, body, inside: undefined, beside: 0 });
    if (frame.length > this.#frameBytesMax) throw tooLarge(frame.length, this.#frameBytesMax);
    const beside = attachments && this.#transport.moves ? attachments.list : none;
    if (!this.#transport.send(frame, beside)) this.congested = true;
    this.#enter(body.length, attachments);
  }

  /** Sends what ends or steers something: small, so that it always fits. Never throws: a transport that does is closed. */
  control(parts: FrameParts, message: Encoded = nothing): void {
    try {
      this.send(parts, message);
    } catch (cause) {
      this.#transport.close({ code: "failed", message: "the transport did not take a frame", cause });
    }
  }

  /** The body of a failed reply, or of a stream's end, on Clearway's wire: as much of an error as may cross. Never throws. */
  errorBody(thrown: unknown, channel: string): Encoded {
    return { ...nothing, body: writeError(this.#redacted(thrown, channel), this.bodyBytesMax, this.#exposes) };
  }

  /** As much of an error as may cross, for the plain wire. Never throws. */
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

  /** Hands an error that no caller hears of to its owner. Never throws. */
  report(error: unknown, channel: string): void {
    try {
      this.settings.onError(error, channel);
    } catch (thrown) {
      console.error("clearway/channel, onError threw:", thrown);
    }
  }

  /** The error for a message that no frame without a name has room for; undefined where one has. */
  tooLarge({ body, attachments }: Encoded): ClearwayError | undefined {
    const inside = this.#transport.moves ? none : (attachments?.list ?? none);
    const size = headBytes + insideBytes(body, inside);
    return size > this.#frameBytesMax ? tooLarge(size, this.#frameBytesMax) : undefined;
  }

  #withAttachments(parts: FrameParts, flags: number, body: Uint8Array, { list }: Attachments): Uint8Array {
    if (this.#transport.moves) return writeFrame(parts, { flags, body, inside: undefined, beside: list.length });
    const size = headBytes + insideBytes(body, list);
    if (size > this.#frameBytesMax) throw tooLarge(size, this.#frameBytesMax);
    return writeFrame(parts, { flags, body, inside: list, beside: 0 });
  }

  /** Enters a message that came. */
  arrived({ body, attachments }: Received): void {
    const { received } = this.ledger;
    received.copiedBytes += body.length;
    for (const { buffer, length } of attachments) {
      if (isShared(buffer)) received.sharedBytes += length;
      else if (this.#transport.moves) received.movedBytes += length;
      else received.copiedBytes += length;
    }
  }

  /** The other end did not keep to the protocol: the end. */
  broken(what: string): void {
    this.close({ code: "protocol", message: what });
  }

  /** Ends the transport. */
  close(reason: CloseReason): void {
    this.#transport.close(reason);
  }

  /** Reads nothing more for now, where the transport can do that. */
  pause(): void {
    this.#transport.pause?.();
  }

  resume(): void {
    this.#transport.resume?.();
  }

  /** The error for what the end of the transport ends. */
  closedError(what: string): ClearwayError {
    const { message = "closed", cause } = this.reason ?? {};
    const error = new ClearwayError("transport-closed", `${what}: ${message}`, cause === undefined ? {} : { cause });
    return Object.assign(error, { reason: this.reason });
  }

  #enter(bodyBytes: number, attachments: Attachments | undefined): void {
    const { sent } = this.ledger;
    if (bodyBytes > 0) enterCopy(sent, "encoded", bodyBytes);
    if (attachments === undefined) return;
    sent.movedBytes += attachments.movedBytes;
    sent.sharedBytes += attachments.sharedBytes;
    for (const [reason, bytes] of attachments.copies) enterCopy(sent, reason, bytes);
  }
}

function insideBytes(body: Uint8Array, list: readonly Uint8Array[]): number {
  if (list.length === 0) return body.length;
  return list.reduce((sum, each) => sum + padded(each.length), padded(body.length) + padded(list.length * 4));
}

function tooLarge(bytes: number, max: number): ClearwayError {
  return new ClearwayError("too-large", `a message of ${bytes} bytes; the way to the other end takes ${max} at most`);
}
