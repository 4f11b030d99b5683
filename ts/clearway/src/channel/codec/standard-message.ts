// SPDX-License-Identifier: MIT OR Apache-2.0
import type { DecodeOptions, MessageCodec } from "./codec.js";
import { addExtensions, type Extension, type Extensions, noExtensions } from "./extension.js";
import { requireLittleEndian } from "./host-order.js";
import { input } from "./input.js";
import { type CodecLimits, checkLimits, defaultLimits } from "./limits.js";
import { readValue } from "./read-value.js";
import { Reader } from "./reader.js";
import { encodeWith, encodeWithInto } from "./scratch.js";
import { writeValue } from "./write-value.js";
import type { Writer } from "./writer.js";

/** What can be set on a standard codec. */
export interface StandardOptions extends Partial<CodecLimits> {
  /** Types of the application's own, added to those the codec has. */
  readonly extensions?: readonly Extension[];
  /**
   * Reads what would otherwise lose its form: a whole float64 as a `float64()` object, every map as a `Map` in the
   * message's order. What is read and written again then has the same bytes, if they were in the shortest form. Default false.
   */
  readonly lossless?: boolean;
  /**
   * What a message of `null` is: no bytes, as Flutter has it (the default), or the type byte 0, for carriers on which an
   * empty message means something else. Then no bytes are refused. Inside of methods it is always the type byte.
   */
  readonly emptyNull?: boolean;
}

/** The standard codec of messages. */
export interface StandardMessageCodec extends MessageCodec<unknown> {
  /** The same codec with other settings. Throws `invalid-argument`. */
  with(options: StandardOptions): StandardMessageCodec;
}

/** The settings of a standard codec, complete. */
export interface StandardSettings extends CodecLimits {
  readonly extensions: Extensions;
  readonly lossless: boolean;
  readonly emptyNull: boolean;
}

export const defaultSettings: StandardSettings = {
  ...defaultLimits,
  extensions: noExtensions,
  lossless: false,
  emptyNull: true,
};

/** The settings with some replaced. Throws `invalid-argument`. */
export function changeSettings(before: StandardSettings, options: StandardOptions): StandardSettings {
  const { extensions = [], lossless = before.lossless, emptyNull = before.emptyNull } = options;
  return {
    ...checkLimits(options, before),
    extensions: addExtensions(before.extensions, extensions),
    lossless,
    emptyNull,
  };
}

/** A standard message codec with these settings. */
export function standardWith(settings: StandardSettings): StandardMessageCodec {
  const write = (writer: Writer, value: unknown): void => {
    if (settings.emptyNull && (value === null || value === undefined)) return;
    writeValue(writer, value, 0, settings);
  };
  return {
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
  };
}

/**
 * Flutter's standard message codec (spec/wire.md): null, booleans, numbers, `bigint`, text, lists of bytes and numbers,
 * arrays, plain objects and `Map`s, and extensions. Whole numbers are written as integers, see {@link float64}; `undefined`
 * as null. What has no form throws `not-encodable`: it is never left out or changed.
 */
export const standardMessageCodec: StandardMessageCodec = standardWith(defaultSettings);
