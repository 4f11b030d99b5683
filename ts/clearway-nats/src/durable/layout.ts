// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Extension } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import { decodeReply, malformed, wireCodec } from "../wire/call.js";
import { isId, isObjectName } from "./names.js";

// Every message of the durable mode begins with an envelope, which a worker process reads without decoding the arguments.
//
// A call:
//
//   u8   version of this layout: 1
//   u8   form: 0 = the call follows, 1 = the call is an object of the bucket of values; plus 2 if the caller may cancel the call
//   u8   length of the id, and the id (ASCII)
//   u8   length of the caller's id, and that id. Length 0: the outcome is stored under the call's id
//   u8   length of the callback subject, and that subject (ASCII). Length 0: none
//   ...  form 0 or 2: the call (`wire/call.ts`); form 1 or 3: f64 size of the object in bytes, little-endian, and its name (ASCII)
//
// The outcomes of calls. A message has one or more of them:
//
//   u32  length of the rest, little-endian
//   u8   form: 0 = the outcome follows, 1 = the outcome is an object of the bucket of values
//   u8   length of the id, and the id (ASCII)
//   ...  form 0: the outcome (`wire/call.ts`); form 1: f64 size of the object in bytes, little-endian, and its name (ASCII)

const layoutVersion = 1;

/** What a message holds: the bytes themselves, or the name and the size of an object. */
export type Content = { readonly bytes: Uint8Array } | { readonly object: string; readonly objectBytes: number };

/** A call with its envelope. */
export interface CallEnvelope {
  readonly id: string;
  /** The caller that waits for the outcome. Empty if the outcome is stored under the call's id. */
  readonly caller: string;
  /** The subject to which the outcome is also published. Empty for none. */
  readonly callback: string;
  /** Whether the caller may cancel the call while it runs. */
  readonly cancellable: boolean;
  readonly content: Content;
}

/** The outcome of a call with its envelope. */
export interface OutcomeEnvelope {
  readonly id: string;
  readonly content: Content;
}

/** Encodes a call's envelope. Copies the content. */
export function writeCall({ id, caller, callback, cancellable, content }: CallEnvelope): Uint8Array {
  const size = 5 + id.length + caller.length + callback.length + contentBytes(content);
  const writer = new EnvelopeWriter(new Uint8Array(size));
  writer.byte(layoutVersion);
  writer.byte(formOf(content) + (cancellable ? 2 : 0));
  writer.text(id);
  writer.text(caller);
  writer.text(callback);
  writer.content(content);
  return writer.bytes;
}

/** Decodes a call's envelope. The content is a view of the bytes. Throws `protocol` for bytes that are none. */
export function readCall(bytes: Uint8Array): CallEnvelope {
  const reader = new EnvelopeReader(bytes, 0, bytes.length);
  const version = reader.byte();
  if (version !== layoutVersion) throw malformed(`its layout has the version ${version}`);
  const form = reader.byte();
  const id = reader.id();
  const caller = reader.text();
  if (caller !== "" && !isId(caller)) throw malformed("a caller's id is none");
  const callback = reader.text();
  // The form of the content: any other bit of the byte is unknown.
  const content = reader.content(form & ~2);
  return { id, caller, callback, cancellable: (form & 2) !== 0, content };
}

/** Encodes the envelope of one outcome. Copies the content. */
export function writeOutcome({ id, content }: OutcomeEnvelope): Uint8Array {
  const size = 6 + id.length + contentBytes(content);
  const writer = new EnvelopeWriter(new Uint8Array(size));
  writer.length(size - 4);
  writer.byte(formOf(content));
  writer.text(id);
  writer.content(content);
  return writer.bytes;
}

/** Joins encoded outcomes to one message. Copies them, unless there is only one. */
export function joinOutcomes(outcomes: readonly Uint8Array[]): Uint8Array {
  if (outcomes.length === 1) return outcomes[0]!;
  const bytes = new Uint8Array(outcomes.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of outcomes) {
    bytes.set(each, at);
    at += each.length;
  }
  return bytes;
}

/**
 * Decodes the outcomes of a message, one by one. The contents are views of the bytes. Throws `protocol` where the bytes are no outcome; the
 * outcomes before that place are valid.
 */
export function* readOutcomes(bytes: Uint8Array): Generator<OutcomeEnvelope> {
  let at = 0;
  while (at < bytes.length) {
    if (bytes.length - at < 4) throw malformed("an outcome has no length");
    const length = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0, true);
    at += 4;
    if (length > bytes.length - at) throw malformed("an outcome is longer than its message");
    const reader = new EnvelopeReader(bytes, at, at + length);
    const form = reader.byte();
    const id = reader.id();
    yield { id, content: reader.content(form) };
    at += length;
  }
}

const formOf = (content: Content): number => ("bytes" in content ? 0 : 1);
const contentBytes = (content: Content): number =>
  "bytes" in content ? content.bytes.length : 8 + content.object.length;

class EnvelopeWriter {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(value: number): void {
    this.bytes[this.#at++] = value;
  }

  length(value: number): void {
    new DataView(this.bytes.buffer).setUint32(this.#at, value, true);
    this.#at += 4;
  }

  // All texts of an envelope are ASCII and have at most 255 characters. The options' validation sees to that.
  text(text: string): void {
    this.byte(text.length);
    this.#characters(text);
  }

  content(content: Content): void {
    if ("bytes" in content) return this.bytes.set(content.bytes, this.#at);
    new DataView(this.bytes.buffer).setFloat64(this.#at, content.objectBytes, true);
    this.#at += 8;
    this.#characters(content.object);
  }

  #characters(text: string): void {
    for (let index = 0; index < text.length; index++) this.bytes[this.#at++] = text.charCodeAt(index);
  }
}

class EnvelopeReader {
  #at: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, from: number, end: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  byte(): number {
    if (this.#at >= this.#end) throw malformed("its envelope is incomplete");
    return this.#bytes[this.#at++]!;
  }

  text(): string {
    const length = this.byte();
    if (length > this.#end - this.#at) throw malformed("its envelope is incomplete");
    return this.#characters(length);
  }

  #characters(length: number): string {
    let text = "";
    for (let index = 0; index < length; index++) text += String.fromCharCode(this.#bytes[this.#at++]!);
    return text;
  }

  id(): string {
    const id = this.text();
    if (!isId(id)) throw malformed("a call's id is none");
    return id;
  }

  content(form: number): Content {
    const rest = this.#bytes.subarray(this.#at, this.#end);
    if (form === 0) return { bytes: rest };
    if (form !== 1 || rest.length < 8) throw malformed("its content has no known form");
    const objectBytes = new DataView(rest.buffer, rest.byteOffset, 8).getFloat64(0, true);
    if (!(Number.isInteger(objectBytes) && objectBytes >= 0)) throw malformed("an object's size is no size");
    this.#at += 8;
    const object = this.#characters(Math.min(rest.length - 8, 256));
    if (!isObjectName(object)) throw malformed("an object's name is none");
    return { object, objectBytes };
  }
}

/** The outcome of a submitted call, as it comes to a callback subject. */
export type CallbackOutcome =
  | { readonly id: string; readonly ok: true; readonly value: unknown }
  | { readonly id: string; readonly ok: false; readonly error: unknown }
  /** The result is too large for a message. Read it with `result(id)` of a pool. */
  | { readonly id: string; readonly ok: undefined };

/**
 * Reads a message that a worker process has published to the callback subject of a call. Throws a `ClearwayError` with the code of a codec, or
 * `protocol`, for bytes that are none. Pass the same extensions as to the pool.
 */
export function readCallback(data: Uint8Array, extensions: readonly Extension[] = []): CallbackOutcome {
  const [outcome] = readOutcomes(data);
  if (outcome === undefined) throw new ClearwayError("protocol", "a callback's message is empty");
  const { id, content } = outcome;
  if (!("bytes" in content)) return { id, ok: undefined };
  return { id, ...decodeReply(wireCodec(extensions), content.bytes) };
}
