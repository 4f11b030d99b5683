// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.codec

import java.nio.ByteBuffer

/**
 * How the values of a channel's messages become bytes. Safe for many threads at once; blocks nowhere.
 *
 * @param T what is written and read; null is a message without bytes, where a codec does not say otherwise
 */
public interface MessageCodec<T> {
    /** "standard", "json", "string" or "binary"; another for one of your own. */
    public val name: String

    /**
     * A message in new memory of its exact size. What it is written into on the way is kept for the next one. Throws
     * [CodecException]: `not-encodable`, `too-deep`, `too-large`.
     */
    public fun encode(value: T?): ByteArray

    /** Reads a message. Lists of numbers are copies, so that the bytes can be used again. Throws [CodecException]. */
    public fun decode(message: ByteArray): T?

    /**
     * Reads what the buffer has left; its position stays. The codec owns the bytes from now on: the caller must not
     * write there, and lists of numbers may be views of them, such as `ByteBuffer` and `DoubleBuffer`, in place of
     * arrays. What is not in an array of the JVM's (a direct buffer) is copied once. Throws [CodecException].
     */
    public fun decodeOwned(message: ByteBuffer): T?
}

/** How calls of methods and their replies become bytes. Safe for many threads at once; blocks nowhere. */
public interface MethodCodec {
    /** "standard" or "json"; another for one of your own. */
    public val name: String

    /** Throws [CodecException], as all of these do. */
    public fun encodeCall(call: MethodCall): ByteArray

    public fun decodeCall(message: ByteArray): MethodCall

    /** [MethodReply.None] has no bytes. */
    public fun encodeReply(reply: MethodReply): ByteArray

    /** No bytes are [MethodReply.None]. */
    public fun decodeReply(message: ByteArray): MethodReply
}

/** A method's call: its name, and one value as its arguments. */
public class MethodCall @JvmOverloads public constructor(public val method: String, public val args: Any? = null) {
    override fun toString(): String = "MethodCall($method)"
}

/** The answer to a method call. */
public sealed class MethodReply {
    /** A value. */
    public class Success(public val value: Any?) : MethodReply()

    /**
     * An error.
     *
     * @property code for programs
     * @property message for people
     * @property details any value of the codec
     * @property stack the stack trace, a fourth part, which not every implementation reads; null where there is none
     * @property hasStack whether the fourth part stands there; it may be null
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

    /** No reply at all: not implemented, or no handler. */
    public object None : MethodReply()
}
