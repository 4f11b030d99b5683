// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import clearway.channel.codec.json.JsonMessageCodec
import clearway.channel.codec.json.JsonMethodCodec
import java.nio.ByteBuffer

/** The codecs of spec/wire.md, with their default limits. */
public object Codecs {
    /** Flutter's standard codec. It is compact and preserves types. Flutter, Android and iOS support it. */
    @JvmField
    public val STANDARD: StandardMessageCodec = StandardMessageCodec(CodecLimits(), Extensions.NONE, emptyNull = true)

    @JvmField public val STANDARD_METHODS: StandardMethodCodec = StandardMethodCodec(STANDARD)

    /** The JSON codec, for peers that support only JSON. */
    @JvmField public val JSON: JsonMessageCodec = JsonMessageCodec(CodecLimits())

    @JvmField public val JSON_METHODS: JsonMethodCodec = JsonMethodCodec(CodecLimits())

    /** The codec for messages that are text, in UTF-8. */
    @JvmField public val STRING: StringCodec = StringCodec()

    /** The codec for messages that are bytes. */
    @JvmField public val BINARY: BinaryCodec = BinaryCodec()
}

/**
 * Encodes and decodes the values of a channel's messages. Several threads may use one codec at the same time. Never
 * blocks.
 *
 * @param T the type of the values; null is a message without bytes, unless the codec says otherwise
 */
public interface MessageCodec<T> {
    /**
     * The codec's name: "standard", "json", "string" or "binary". An application's own codec must have another name.
     */
    public val name: String

    /**
     * Encodes a value into new memory of the message's exact size. The caller owns that memory. Throws
     * [CodecException]: `not-encodable`, `too-deep`, `too-large`.
     */
    public fun encode(value: T?): ByteArray

    /**
     * Decodes a message. The value keeps no reference to the bytes, so the caller may reuse them. Throws
     * [CodecException].
     */
    public fun decode(message: ByteArray): T?

    /**
     * Decodes the buffer's remaining bytes. The buffer's position does not change. The codec takes ownership of the
     * bytes, and the caller must not write to them afterwards. Lists of numbers may be buffers that are views of the
     * bytes (such as `ByteBuffer` and `DoubleBuffer`) instead of arrays. A buffer without an array, such as a direct
     * buffer, is copied once first. Throws [CodecException].
     */
    public fun decodeOwned(message: ByteBuffer): T?
}

/**
 * Encodes and decodes method calls and their replies. Several threads may use one codec at the same time. Never blocks.
 */
public interface MethodCodec {
    /** The codec's name: "standard" or "json". An application's own codec must have another name. */
    public val name: String

    /** Encodes a call. Throws [CodecException], as all methods of this codec do. */
    public fun encodeCall(call: MethodCall): ByteArray

    public fun decodeCall(message: ByteArray): MethodCall

    /** Encodes a reply. [MethodReply.None] has no bytes. */
    public fun encodeReply(reply: MethodReply): ByteArray

    /** Decodes a reply. A message without bytes is [MethodReply.None]. */
    public fun decodeReply(message: ByteArray): MethodReply
}

/** A method call: the name of the method, and one value as the arguments. */
public class MethodCall @JvmOverloads public constructor(public val method: String, public val args: Any? = null) {
    override fun toString(): String = "MethodCall($method)"
}

/** The reply to a method call. */
public sealed class MethodReply {
    /** The method returned a value. */
    public class Success(public val value: Any?) : MethodReply()

    /**
     * The method failed.
     *
     * @property code the error code, for programs
     * @property message the error message, for people
     * @property details any value that the codec can encode
     * @property stack the stack trace, or null. It is the optional fourth part of the reply; some implementations
     *   ignore it.
     * @property hasStack whether the reply has the fourth part; that part may be null
     */
    public class Failure
    @JvmOverloads
    public constructor(
        public val code: String,
        public val message: String?,
        public val details: Any? = null,
        public val stack: String? = null,
        public val hasStack: Boolean = stack != null,
    ) : MethodReply()

    /** The reply has no bytes: the method is not implemented, or the channel has no handler. */
    public object None : MethodReply()
}

/**
 * Maximum number of hex digits in a big integer, for encoding and decoding. The limit bounds the work that a message
 * can cause (spec/wire.md).
 */
internal const val BIG_DIGITS_MAX = 1 shl 20

/**
 * Limits on one message. A codec refuses a message above a limit before it allocates memory for the excess.
 *
 * @property depthMax maximum nesting of lists, maps and extension values, from 0 to 1000, for encoding and decoding.
 *   The default is 128. Each level of nesting uses stack.
 * @property itemsMax maximum number of values that all lists, maps and extension values of one message may have
 *   together, for decoding. A map entry counts as two values. The default is 16,777,216. An endpoint also has
 *   [valuesMax][clearway.channel.EndpointOptions.valuesMax]; the smaller limit holds.
 * @throws IllegalArgumentException if a limit is out of its range
 */
public class CodecLimits
@JvmOverloads
public constructor(public val depthMax: Int = 128, public val itemsMax: Int = 1 shl 24) {
    init {
        require(depthMax in 0..1000) { "depthMax must be from 0 to 1000: depthMax=$depthMax" }
        require(itemsMax >= 0) { "itemsMax must be 0 or more: itemsMax=$itemsMax" }
    }
}

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

// Encoding with a limit on the size of the message. A value may name one array many times, and the message has a copy
// for each place: a request of 46 KB could otherwise make an endpoint write hundreds of MB before it checks the size.

/**
 * A message would be larger than its limit of `bytesMax` bytes. The endpoint turns this exception into its own error.
 */
internal class OverLimit(val bytesMax: Int) :
    RuntimeException("a message of more than $bytesMax bytes", null, false, false)

/**
 * Encodes a value in at most `bytesMax` bytes. Throws [OverLimit] as soon as the message would be larger; the memory
 * that it took until then is not much more than `bytesMax`. An application's own codec knows no limit, so its message
 * is checked when it is complete. Throws the codec's exceptions.
 */
internal fun <T> MessageCodec<T>.encode(value: T?, bytesMax: Int): ByteArray {
    val isOver =
        when (value) {
            is String -> name == "string" && utf8Size(value) > bytesMax
            is ByteArray -> name == "binary" && value.size > bytesMax
            else -> false
        }
    if (isOver) throw OverLimit(bytesMax)
    return when (this) {
        is StandardMessageCodec -> encodeWithin(value, bytesMax.toLong())
        is JsonMessageCodec -> encodeWithin(value, bytesMax.toLong())
        else -> encode(value).also { check(it, bytesMax) }
    }
}

/** Encodes a call in at most `bytesMax` bytes, as [encode] does a value. */
internal fun MethodCodec.encodeCall(call: MethodCall, bytesMax: Int): ByteArray =
    when (this) {
        is StandardMethodCodec -> encodeWithin(call, bytesMax.toLong())
        is JsonMethodCodec -> encodeWithin(call, bytesMax.toLong())
        else -> encodeCall(call).also { check(it, bytesMax) }
    }

/** Encodes a reply in at most `bytesMax` bytes, as [encode] does a value. */
internal fun MethodCodec.encodeReply(reply: MethodReply, bytesMax: Int): ByteArray =
    when (this) {
        is StandardMethodCodec -> encodeWithin(reply, bytesMax.toLong())
        is JsonMethodCodec -> encodeWithin(reply, bytesMax.toLong())
        else -> encodeReply(reply).also { check(it, bytesMax) }
    }

private fun check(message: ByteArray, bytesMax: Int) {
    if (message.size > bytesMax) throw OverLimit(bytesMax)
}
