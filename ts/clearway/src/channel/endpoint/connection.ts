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

/** An encoded message to send. */
export interface Encoded {
  readonly body: Uint8Array;
  readonly flags: number;
  /** Undefined when the message has no attachments. */
  readonly attachments: Attachments | undefined;
}

/** A message as it arrived, not yet decoded. */
export interface Received {
  readonly body: Uint8Array;
  readonly flags: number;
  readonly attachments: readonly Uint8Array[];
  /** Whether the body is alone in its buffer. */
  readonly alone: boolean;
}

export const nothing: Encoded = { body: new Uint8Array(), flags: 0, attachments: undefined };

const none: readonly Uint8Array[] = [];
// Few different names are in use. Only this end's code adds names here, not the peer.
const namesKept = 1024;

/** The connection to the other end, after the hello. Encodes values into frames and keeps the ledger. It knows no calls and no streams. */
export class Connection {
  readonly ledger = emptyLedger();
  /** Why nothing can be sent any more. */
  reason: CloseReason | undefined;
  /** Whether this end is closing and starts nothing new. */
  closing = false;
  /** Whether the transport asked this end to hold back. */
  congested = false;
  readonly #transport: ChannelTransport;
  readonly #rules: AttachmentRules;
  /** An instance without attachments, reused for the next message. */
  #spare: Attachments | undefined;
  readonly #names = new Map<string, Uint8Array>();
  /** Largest body that fits into a frame with any name. */
  readonly bodyBytesMax: number;
  /** Events that wait for the other end. */
  readonly queued: QueueCharge;
  /** Whether errors cross in full. */
  readonly #exposes: boolean;
  readonly #frameBytesMax: number;
  readonly #nameBytesMax: number;
  readonly #lost: (reason: CloseReason) => void;

  constructor(
    transport: ChannelTransport,
    readonly settings: EndpointSettings,
    readonly wire: WireName,
    there: Hello | undefined,
    /** Called when the transport failed to close. */
    lost: (reason: CloseReason) => void,
  ) {
    this.#transport = transport;
    this.#lost = lost;
    const { moves, shares } = transport;
    const { attachmentBytesMin: bytesMin, strict } = settings;
    const ours = wire === "clearway";
    this.queued = { bytes: 0, bytesMax: settings.replyBytesMax };
    this.#exposes = settings.exposeErrors ?? transport.trusted === true;
    this.#rules = { bytesMin, moves: ours && moves, shares: ours && shares, strict };
    this.#frameBytesMax = Math.min(transport.frameBytesMax, there?.frameBytesMax ?? transport.frameBytesMax);
    // Half of the smallest frame stays free for what follows a name.
    const nameMax = Math.min(settings.nameBytesMax, this.#frameBytesMax - frameBytesMin / 2);
    this.#nameBytesMax = Math.min(nameMax, there?.nameBytesMax ?? nameMax);
    this.bodyBytesMax = this.#frameBytesMax - headBytes - padded(this.#nameBytesMax);
  }

  /** Whether nothing new may start. */
  get over(): boolean {
    return this.closing || this.reason !== undefined;
  }

  /**
   * Throws `invalid-argument` for a name that is too long for this end. What the other end takes is checked when a name is sent: a peer
   * that announces a small limit must fail calls to it, and not the code that sets up handlers for it.
   */
  checkName(name: string): void {
    const { nameBytesMax } = this.settings;
    if (typeof name !== "string") throw invalid("name", "a string", name);
    if (new TextEncoder().encode(name).length > nameBytesMax)
      throw invalid("name", `at most ${nameBytesMax} bytes`, name);
  }

  /** Returns a name's bytes for sending. Throws `invalid-argument` for a name that is too long for the other end. */
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

  /** Encodes a value. Moves nothing yet. Throws what the codec throws, and `would-copy`. */
  encode<T>(codec: Codec<unknown, T>, given: T, giving: "kept" | "result"): Encoded {
    const moved = given instanceof MovedValue;
    return this.encodeAs(codec, moved ? (given.value as T) : given, moved ? "move" : giving);
  }

  /** Encodes a method's call. */
  encodeCall(codec: MethodCodec, method: string, given: unknown): Encoded {
    const moved = given instanceof MovedValue;
    return this.encodeAs(codec.call, { method, args: moved ? given.value : given }, moved ? "move" : "kept");
  }

  encodeAs<T>(codec: Codec<unknown, T>, value: T, giving: Giving): Encoded {
    if (this.wire !== "clearway" && giving !== "move")
      return { body: codec.encode(value), flags: 0, attachments: undefined };
    const attachments = this.#spare ?? new Attachments(this.#rules);
    // Cleared while in use: a getter or an extension may send a message of its own.
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
   * Decodes a message that arrived. The two ends may use different codecs: a message that one end wrote with the binary codec can be read
   * with another codec, and the reverse, as code that forwards messages does. Throws what the codec throws.
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

  /** Sends a frame with a message. Throws `too-large` before anything has left. A closed connection drops the frame. */
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

  /** Sends a control frame, which is small and always fits. Never throws: if the transport throws, the connection closes it. */
  control(parts: FrameParts, message: Encoded = nothing): void {
    try {
      this.send(parts, message);
    } catch (cause) {
      this.close(failed(cause));
    }
  }

  /** Encodes an error for a failed reply or a stream's end on Clearway's wire, as far as the error may cross. Never throws. */
  errorBody(thrown: unknown, channel: string): Encoded {
    return { ...nothing, body: writeError(this.#redacted(thrown, channel), this.bodyBytesMax, this.#exposes) };
  }

  /** Returns the parts of an error that may cross, for the plain wire. Never throws. */
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

  /** Passes an error that belongs to no call to `onError`. Never throws. */
  report(error: unknown, channel: string): void {
    try {
      this.settings.onError(error, channel);
    } catch (thrown) {
      console.error("clearway/channel, onError threw:", thrown);
    }
  }

  /** Returns the error for a message too large for a frame even without a name; undefined when it fits. */
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

  /** Enters a received message in the ledger. */
  arrived({ body, attachments }: Received): void {
    const { received } = this.ledger;
    received.copiedBytes += body.length;
    for (const { buffer, length } of attachments) {
      if (isShared(buffer)) received.sharedBytes += length;
      else if (this.#transport.moves) received.movedBytes += length;
      else received.copiedBytes += length;
    }
  }

  /** Closes the transport: the other end broke the protocol. */
  broken(what: string): void {
    this.close({ code: "protocol", message: what });
  }

  /** Closes the transport. Never throws: a transport that throws counts as closed. */
  close(reason: CloseReason): void {
    try {
      this.#transport.close(reason);
    } catch (cause) {
      this.#lost(failed(cause));
    }
  }

  /** Stops reading, or goes on, if the transport can pause. Never throws. */
  pause(on = true): void {
    try {
      on ? this.#transport.pause?.() : this.#transport.resume?.();
    } catch (cause) {
      this.close(failed(cause));
    }
  }

  resume(): void {
    this.pause(false);
  }

  /** Returns the error for work that the transport's end has ended. */
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

function failed(cause: unknown): CloseReason {
  return { code: "failed", message: "the transport threw", cause };
}

function tooLarge(bytes: number, max: number): ClearwayError {
  return new ClearwayError("too-large", `a message of ${bytes} bytes; the way to the other end takes ${max} at most`);
}
