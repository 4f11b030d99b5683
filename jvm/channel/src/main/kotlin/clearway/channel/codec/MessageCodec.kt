// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

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
