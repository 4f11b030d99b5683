// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/** The errors of a message; the codes of spec/errors.md, the same in every language. */
public enum class CodecError(
    /** The code as every language writes it. */
    public val code: String
) {
    /** The bytes end before the value does, or a count is larger than what is left. */
    TRUNCATED("truncated"),
    /** Bytes follow after the value's end. */
    TRAILING_BYTES("trailing-bytes"),
    /** A type byte is reserved, or is an extension's that the codec does not have. */
    UNKNOWN_TAG("unknown-tag"),
    /** A text is not UTF-8. */
    BAD_UTF8("bad-utf8"),
    /** A body is not what its type says. */
    MALFORMED("malformed"),
    /** Lists, maps and extension values are nested deeper than the limit. */
    TOO_DEEP("too-deep"),
    /** A count or a size is over the limit, or over what the format can say. */
    TOO_LARGE("too-large"),
    /** The codec has no form for a value. */
    NOT_ENCODABLE("not-encodable"),
}

/**
 * A codec's refusal. [offset] counts bytes from the message's first, and is the one that spec/wire.md names for the
 * error. An error about bytes has no stack trace, so that refusing bad bytes is cheap.
 */
public class CodecException
internal constructor(
    public val error: CodecError,
    what: String,
    public val offset: Int,
    cause: Throwable? = null,
    traced: Boolean = false,
) : RuntimeException("${error.code} at byte $offset: $what", cause, traced, traced) {
    /** The code as every language writes it. */
    public val code: String
        get() = error.code
}
