// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The error codes that a codec throws. Each of these errors has an `offset`.
 *
 * These codes are in a separate file, so that an app without channels does not load them. The page spec/errors.md lists all codes. The page
 * spec/wire.md defines the offset for each code. A test compares the comment of each code with spec/errors.md.
 */
export const codecErrorCodes = [
  /** the bytes end before the value does, or a count is larger than the remaining bytes */
  "truncated",
  /** bytes follow the end of the value */
  "trailing-bytes",
  /** a type byte is reserved, or belongs to an extension that this codec does not have */
  "unknown-tag",
  /** a text is not UTF-8 */
  "bad-utf8",
  /** content does not match its type: digits of a big integer, a method's envelope, JSON */
  "malformed",
  /** lists, maps and extension values are nested deeper than `depthMax` */
  "too-deep",
  /** a count or a size exceeds the codec's limit, or the largest that the format can express */
  "too-large",
  /** the codec has no form for a value, such as a function or a Date */
  "not-encodable",
  /** the host is big-endian */
  "unsupported-host",
] as const;

/** One of the codes of {@link codecErrorCodes}. */
export type CodecErrorCode = (typeof codecErrorCodes)[number];
