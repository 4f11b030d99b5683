// SPDX-License-Identifier: MIT OR Apache-2.0
import { checkError } from "./check-error.js";
import type { Codec, DecodeOptions, MethodCall, MethodCodec, MethodReply } from "./codec.js";
import { requireLittleEndian } from "./host-order.js";
import { input } from "./input.js";
import { readValue } from "./read-value.js";
import { Reader } from "./reader.js";
import { refusal } from "./refusal.js";
import { encodeWith, encodeWithInto } from "./scratch.js";
import { changeSettings, defaultSettings, type StandardOptions, type StandardSettings } from "./standard-message.js";
import { Envelope, Tag } from "./tags.js";
import { writeValue } from "./write-value.js";
import type { Writer } from "./writer.js";

/** The standard codec of methods. */
export interface StandardMethodCodec extends MethodCodec {
  /** The same codec with other settings. Throws `invalid-argument`. */
  with(options: StandardOptions): StandardMethodCodec;
}

type Read<T> = (reader: Reader, settings: StandardSettings) => T;
type Write<T> = (writer: Writer, value: T, settings: StandardSettings) => void;

function half<T>(settings: StandardSettings, write: Write<T>, read: Read<T>): Codec<T> {
  const writeIt = (writer: Writer, value: T): void => write(writer, value, settings);
  return {
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
  };
}

function writeCall(writer: Writer, { method, args }: MethodCall, settings: StandardSettings): void {
  if (typeof method !== "string") throw refusal("not-encodable", "a method's name is no string", 0);
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
  if (envelope !== Envelope.error) throw refusal("malformed", `an envelope begins with ${envelope}`, 0);
  const code = readText(reader, "an error's code");
  const message = readTextOrNull(reader, "an error's message");
  const details = readValue(reader, 0, settings);
  if (reader.at === reader.end) return { kind: "error", code, message, details };
  return { kind: "error", code, message, details, stack: readTextOrNull(reader, "an error's stack trace") };
}

function readText(reader: Reader, what: string): string {
  const from = reader.at;
  if (reader.byte() !== Tag.string) throw refusal("malformed", `${what} is no string`, from);
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
 * Flutter's standard method codec (spec/wire.md). A reply without bytes reads as `{ kind: "none" }`; the caller of a method
 * takes it for "not implemented, or no handler".
 */
export const standardMethodCodec: StandardMethodCodec = methodsWith(defaultSettings);
