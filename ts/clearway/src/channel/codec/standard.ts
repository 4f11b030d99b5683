// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Rules } from "../../error/checked.js";
import {
  attaching,
  type Codec,
  type CodecLimits,
  checkError,
  codecError,
  type DecodeOptions,
  defaultLimits,
  input,
  type LimitOptions,
  limitRules,
  type MessageCodec,
  type MethodCall,
  type MethodCodec,
  type MethodReply,
  outOfBand,
  requireLittleEndian,
} from "./codec.js";
import { addExtensions, type Extension, type Extensions, noExtensions } from "./extension.js";
import { readValue } from "./read-value.js";
import { Reader } from "./reader.js";
import { Envelope, Tag } from "./tags.js";
import { writeValue } from "./write-value.js";
import { encodeWith, encodeWithInto, type Writer } from "./writer.js";

/** Settings of a standard codec. */
export interface StandardOptions extends LimitOptions {
  /** The application's own types. The codec also keeps the extensions that it already has. */
  readonly extensions?: readonly Extension[] | undefined;
  /**
   * Keeps distinctions that decoding otherwise loses. A whole float64 becomes a `float64()` object, and every map becomes a
   * `Map` in the message's order. Encoding the decoded value gives the same bytes, if the message used the shortest forms.
   * Default: false.
   */
  readonly lossless?: boolean | undefined;
  /**
   * Whether the message `null` has no bytes, as in Flutter. If false, the codec encodes null as the type byte 0, and refuses
   * empty messages. Set false for transports on which an empty message means something else. The method codec always writes the
   * type byte. Default: true.
   */
  readonly emptyNull?: boolean | undefined;
}

/** The standard message codec. */
export interface StandardMessageCodec extends MessageCodec<unknown> {
  /** Returns the same codec with other settings. Throws `invalid-argument`. */
  with(options: StandardOptions): StandardMessageCodec;
}

/** All settings of a standard codec. */
interface StandardSettings extends CodecLimits {
  readonly extensions: Extensions;
  readonly lossless: boolean;
  readonly emptyNull: boolean;
}

const defaultSettings: StandardSettings = {
  ...defaultLimits,
  extensions: noExtensions,
  lossless: false,
  emptyNull: true,
};

const standardRules: Rules = {
  depthMax: limitRules.depthMax,
  itemsMax: limitRules.itemsMax,
  extensions: (value) => Array.isArray(value) || "an array of extensions",
  lossless: "boolean",
  emptyNull: "boolean",
};

/** Returns `before` with the given options replaced. Throws `invalid-argument`. */
function changeSettings(before: StandardSettings, options: StandardOptions): StandardSettings {
  const settings = checked(options, standardRules, { ...before, extensions: [] }) as StandardOptions & StandardSettings;
  return { ...settings, extensions: addExtensions(before.extensions, settings.extensions) };
}

/** Creates a standard message codec. */
function standardWith(settings: StandardSettings): StandardMessageCodec {
  const write = (writer: Writer, value: unknown): void => {
    if (settings.emptyNull && (value === null || value === undefined)) return;
    writeValue(writer, value, 0, settings);
  };
  return attaching<StandardMessageCodec>({
    name: "standard",
    encode: (value) => encodeWith(write, value),
    encodeInto: (value, into, offset = 0) => encodeWithInto(write, value, into, offset),
    decode(bytes: Uint8Array, { owned = false }: DecodeOptions = {}) {
      requireLittleEndian();
      const reader = new Reader(input(bytes, owned), settings);
      if (reader.end === 0 && settings.emptyNull) return null;
      const value = readValue(reader, 0, settings);
      reader.finish();
      return value;
    },
    with: (options) => standardWith(changeSettings(settings, options)),
  });
}

/**
 * Encodes values in the form of Flutter's standard message codec (spec/wire.md). It encodes null, booleans, numbers, `bigint`,
 * text, lists of bytes and numbers, arrays, plain objects, `Map`s and extensions. Whole numbers are encoded as integers (see
 * {@link float64}), and `undefined` as null. Any other value throws `not-encodable`. Apart from these two
 * conversions, the codec never changes a value, and it never omits one.
 */
export const standardMessageCodec: StandardMessageCodec = standardWith(defaultSettings);

// `inlined` must not change a value, so floats stay floats and maps keep their order.
const inlineSettings = { ...defaultSettings, lossless: true };

const writeRow = (writer: Writer, values: readonly unknown[]): void => {
  for (const value of values) writeValue(writer, value, 0, inlineSettings);
};

/**
 * Rewrites a standard message so that it contains its attachments. Use it for a receiver that forwards raw bytes.
 *
 * The function handles messages, calls and replies in the same way: each is a row of values. The envelope byte of a reply has
 * the same number as the type byte of null (success) or true (error). It is therefore read and written as such a value. The
 * function copies the message, and copies an attachment once for each reference to it.
 *
 * Throws `too-large`, before it copies the message, if all references together exceed `bytesMax` bytes, or if the row has more
 * values than the endpoint allows in a message. Throws a `CodecError` for a message that a codec without extensions cannot read.
 */
export function inlined(body: Uint8Array, attached: readonly Uint8Array[], bytesMax: number): Uint8Array {
  outOfBand.attached = attached;
  const { valuesMax = inlineSettings.itemsMax } = outOfBand;
  try {
    const reader = new Reader(input(body, true), inlineSettings);
    reader.attachedLeft = bytesMax;
    const values: unknown[] = [];
    while (reader.at < reader.end) {
      if (values.length >= valuesMax) throw codecError("too-large", `more than ${valuesMax} values`, reader.at);
      values.push(readValue(reader, 0, inlineSettings));
    }
    return encodeWith(writeRow, values);
  } finally {
    outOfBand.attached = undefined;
  }
}

/** The standard method codec. */
export interface StandardMethodCodec extends MethodCodec {
  /** Returns the same codec with other settings. Throws `invalid-argument`. */
  with(options: StandardOptions): StandardMethodCodec;
}

type Read<T> = (reader: Reader, settings: StandardSettings) => T;
type Write<T> = (writer: Writer, value: T, settings: StandardSettings) => void;

function half<T>(settings: StandardSettings, write: Write<T>, read: Read<T>): Codec<T> {
  const writeIt = (writer: Writer, value: T): void => write(writer, value, settings);
  return attaching<Codec<T>>({
    name: "standard-method",
    encode: (value) => encodeWith(writeIt, value),
    encodeInto: (value, into, offset = 0) => encodeWithInto(writeIt, value, into, offset),
    decode(bytes: Uint8Array, { owned = false }: DecodeOptions = {}) {
      requireLittleEndian();
      const reader = new Reader(input(bytes, owned), settings);
      const value = read(reader, settings);
      reader.finish();
      return value;
    },
  });
}

function writeCall(writer: Writer, { method, args }: MethodCall, settings: StandardSettings): void {
  if (typeof method !== "string") throw codecError("not-encodable", "a method's name is no string", 0);
  writeValue(writer, method, 0, settings);
  writeValue(writer, args, 0, settings);
}

function readCall(reader: Reader, settings: StandardSettings): MethodCall {
  const method = readText(reader, "a method's name");
  return { method, args: readValue(reader, 0, settings) };
}

function writeReply(writer: Writer, reply: MethodReply, settings: StandardSettings): void {
  if (reply.kind === "none") return;
  if (reply.kind === "success") {
    writer.byte(Envelope.success);
    return writeValue(writer, reply.value, 0, settings);
  }
  const { code, message, details, stack } = checkError(reply);
  writer.byte(Envelope.error);
  writeValue(writer, code, 0, settings);
  writeValue(writer, message, 0, settings);
  writeValue(writer, details, 0, settings);
  if (stack !== undefined) writeValue(writer, stack, 0, settings);
}

function readReply(reader: Reader, settings: StandardSettings): MethodReply {
  if (reader.end === 0) return { kind: "none" };
  const envelope = reader.byte();
  if (envelope === Envelope.success) return { kind: "success", value: readValue(reader, 0, settings) };
  if (envelope !== Envelope.error) throw codecError("malformed", `an envelope begins with ${envelope}`, 0);
  const code = readText(reader, "an error's code");
  const message = readTextOrNull(reader, "an error's message");
  const details = readValue(reader, 0, settings);
  if (reader.at === reader.end) return { kind: "error", code, message, details };
  return { kind: "error", code, message, details, stack: readTextOrNull(reader, "an error's stack trace") };
}

function readText(reader: Reader, what: string): string {
  const from = reader.at;
  if (reader.byte() !== Tag.string) throw codecError("malformed", `${what} is no string`, from);
  return reader.text();
}

function readTextOrNull(reader: Reader, what: string): string | null {
  if (reader.bytes[reader.at] !== Tag.null) return readText(reader, what);
  reader.at++;
  return null;
}

function methodsWith(settings: StandardSettings): StandardMethodCodec {
  return {
    name: "standard-method",
    call: half(settings, writeCall, readCall),
    reply: half(settings, writeReply, readReply),
    with: (options) => methodsWith(changeSettings(settings, options)),
  };
}

/**
 * Encodes calls and replies in the form of Flutter's standard method codec (spec/wire.md). A reply without bytes decodes as `{
 * kind: "none" }`: the method is not implemented, or the channel has no handler.
 */
export const standardMethodCodec: StandardMethodCodec = methodsWith(defaultSettings);
