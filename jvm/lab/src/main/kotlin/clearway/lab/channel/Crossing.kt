// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.jni.Peers
import java.nio.ByteBuffer
import java.util.function.UnaryOperator

/** Sends bytes to C and back, without a codec. One thread at a time uses it. Owns its memory. */
public interface Crossing : AutoCloseable {
    /** Number of times that each byte of an encoded message is copied between [encoded]'s argument and its result. */
    public val copiesEncoded: Int

    /** Number of times that each byte is copied between the memory of [place] and the result of [placed]. */
    public val copiesPlaced: Int

    /** Sends an encoded message and returns its echo. Blocks. */
    public fun encoded(message: ByteArray): ByteArray

    /** Stores the bytes of an app that sends only bytes, in memory that suits this mechanism. Called once. */
    public fun place(bytes: ByteArray)

    /**
     * Sends the stored bytes and returns their echo. The echo is an array, or a buffer that the next call overwrites.
     * Blocks.
     */
    public fun placed(): Any

    /**
     * Number of times that each byte of a message is copied on the way from C to Java's answer and back. Includes
     * Java's reads of the message and of the answer.
     */
    public val copiesNativeToHost: Int

    /** Makes C call Java: C passes the message to `answer` and returns the result. Blocks. */
    public fun callHost(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray

    override fun close() {}
}

/** Maximum size of a message of any row, in bytes. */
public const val MESSAGE_BYTES_MAX: Int = 1 shl 20

/** Sends heap arrays, which C has to copy. */
internal class ByArrays : Crossing {
    private var own = ByteArray(0)

    override val copiesEncoded: Int = 2
    override val copiesPlaced: Int = 2

    override fun encoded(message: ByteArray): ByteArray = Peers.echoArray(message)

    override fun place(bytes: ByteArray) {
        own = bytes
    }

    override fun placed(): Any = Peers.echoArray(own)

    /**
     * The copies are: out of the array that C receives, into the array that C makes for Java, and out of Java's answer.
     */
    override val copiesNativeToHost: Int = 3

    override fun callHost(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray =
        Peers.askArray(message, answer)
}

/**
 * Sends bytes through two direct buffers that it keeps. C copies from one buffer into the other. Java copies an encoded
 * message into the first buffer and out of the second.
 */
internal class ByDirectBuffers : Crossing {
    private val from = ByteBuffer.allocateDirect(MESSAGE_BYTES_MAX)
    private val to = ByteBuffer.allocateDirect(MESSAGE_BYTES_MAX)

    override val copiesEncoded: Int = 3
    override val copiesPlaced: Int = 1

    override fun encoded(message: ByteArray): ByteArray {
        from.clear().put(message)
        Peers.echoDirect(from, to, message.size.toLong())
        return read(to, message.size.toLong())
    }

    private fun read(buffer: ByteBuffer, size: Long): ByteArray {
        val bytes = ByteArray(size.toInt())
        buffer.clear().get(bytes)
        return bytes
    }

    override fun place(bytes: ByteArray) {
        from.clear().put(bytes).flip()
    }

    override fun placed(): Any {
        val size = from.limit()
        Peers.echoDirect(from, to, size.toLong())
        return to.clear().limit(size)
    }

    /** The copies are: into one buffer and out of it for Java's answer, then into the other buffer and out of it. */
    override val copiesNativeToHost: Int = 4

    override fun callHost(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray {
        from.clear().put(message)
        val size =
            Peers.askDirect(message.size.toLong()) { size ->
                val answered = answer.apply(read(from, size))
                to.clear().put(answered)
                answered.size.toLong()
            }
        return read(to, size)
    }
}
