// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The error codes that a codec throws. All these errors have an `offset`.
 *
 * The codes are in a separate file so that an app without channels does not load them. spec/errors.md lists all codes, and spec/wire.md
 * defines the offset of each. A test compares each code's comment with spec/errors.md.
 */
export const codecErrorCodes = [
  /** the bytes end before the value does, or a count is larger than what is left */
  "truncated",
  /** bytes follow after the value's end */
  "trailing-bytes",
  /** a type byte is reserved, or is an extension's that this codec does not have */
  "unknown-tag",
  /** a text is not UTF-8 */
  "bad-utf8",
  /** a body is not what its type says: digits of a big integer, a method's envelope, JSON */
  "malformed",
  /** lists, maps and extension values are nested deeper than `depthMax` */
  "too-deep",
  /** a count or a size is over the codec's limit, or over what the format can say */
  "too-large",
  /** the codec has no form for a value, such as a function or a Date */
  "not-encodable",
  /** the host orders the bytes of numbers the other way round (big-endian) */
  "unsupported-host",
] as const;

/** One of the codes of {@link codecErrorCodes}. */
export type CodecErrorCode = (typeof codecErrorCodes)[number];
