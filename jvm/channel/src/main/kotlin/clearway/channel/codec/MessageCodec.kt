// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * Converts the values of a channel's messages to bytes and back. Safe for many threads at once. Never blocks.
 *
 * @param T the type of the values; null is a message without bytes, unless the codec says otherwise
 */
public interface MessageCodec<T> {
    /** "standard", "json", "string" or "binary". Your own codec has another name. */
    public val name: String

    /**
     * Encodes a value into new memory of the message's exact size. Throws [CodecException]: `not-encodable`,
     * `too-deep`, `too-large`.
     */
    public fun encode(value: T?): ByteArray

    /** Decodes a message. Lists of numbers are copies, so the caller may reuse the bytes. Throws [CodecException]. */
    public fun decode(message: ByteArray): T?

    /**
     * Decodes the buffer's remaining bytes. The buffer's position does not change. The codec then owns the bytes, and
     * the caller must not write to them. Lists of numbers may be views of the bytes, such as `ByteBuffer` and
     * `DoubleBuffer`, instead of arrays. A direct buffer has no array, so its bytes are copied once. Throws
     * [CodecException].
     */
    public fun decodeOwned(message: ByteBuffer): T?
}

/** Converts method calls and their replies to bytes and back. Safe for many threads at once. Never blocks. */
public interface MethodCodec {
    /** "standard" or "json". Your own codec has another name. */
    public val name: String

    /** Encodes a call. Throws [CodecException], as all methods of this codec do. */
    public fun encodeCall(call: MethodCall): ByteArray

    public fun decodeCall(message: ByteArray): MethodCall

    /** Encodes a reply. [MethodReply.None] has no bytes. */
    public fun encodeReply(reply: MethodReply): ByteArray

    /** Decodes a reply. A message without bytes is [MethodReply.None]. */
    public fun decodeReply(message: ByteArray): MethodReply
}

/** A method call: the method's name, and one value as its arguments. */
public class MethodCall @JvmOverloads public constructor(public val method: String, public val args: Any? = null) {
    override fun toString(): String = "MethodCall($method)"
}

/** The answer to a method call. */
public sealed class MethodReply {
    /** The method returned a value. */
    public class Success(public val value: Any?) : MethodReply()

    /**
     * The method failed.
     *
     * @property code a code for programs
     * @property message a message for people
     * @property details any value that the codec can encode
     * @property stack the stack trace, the optional fourth part of the reply; null if there is none. Not every
     *   implementation reads it.
     * @property hasStack whether the reply has the fourth part, which may be null
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
