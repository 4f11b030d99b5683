// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

/** The kinds of errors that a codec throws. The codes are the same in every language; spec/errors.md defines them. */
public enum class CodecError(
    /** The error code, the same in every language. */
    public val code: String
) {
    /** The message ends before the value does, or a count exceeds the rest of the message. */
    TRUNCATED("truncated"),
    /** Bytes follow the value. */
    TRAILING_BYTES("trailing-bytes"),
    /** A type byte is reserved, or no registered extension has it. */
    UNKNOWN_TAG("unknown-tag"),
    /** A text is not valid UTF-8. */
    BAD_UTF8("bad-utf8"),
    /** A value's body does not match its type. */
    MALFORMED("malformed"),
    /** Lists, maps and extension values are nested deeper than the limit. */
    TOO_DEEP("too-deep"),
    /** A count or a size is above the limit, or above the maximum of the format. */
    TOO_LARGE("too-large"),
    /** The codec cannot encode a value. */
    NOT_ENCODABLE("not-encodable"),
}

/**
 * The error of a codec. [offset] counts bytes from the start of the message. spec/wire.md defines the offset of each
 * error. Errors of decoding have no stack trace, so that refusing bad bytes is cheap.
 */
public class CodecException
internal constructor(
    public val error: CodecError,
    what: String,
    public val offset: Int,
    cause: Throwable? = null,
    traced: Boolean = false,
) : RuntimeException("${error.code} at byte $offset: $what", cause, traced, traced) {
    /** The error code, the same in every language. */
    public val code: String
        get() = error.code
}
