// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.jni.Peers
import java.nio.ByteBuffer
import java.util.function.UnaryOperator

/** Bytes to C and back by hand, with no codec. Used by one thread at a time. Owns what memory it needs. */
public interface Crossing : AutoCloseable {
    /** How often a byte of an encoded message is copied between [encoded]'s argument and its result. */
    public val copiesEncoded: Int

    /** How often a byte is copied between what [place] gave and what [placed] gives. */
    public val copiesPlaced: Int

    /** An encoded message there, and its echo. Blocks. */
    public fun encoded(message: ByteArray): ByteArray

    /** Puts bytes, once, where whoever sends nothing but bytes in this way would have them. */
    public fun place(bytes: ByteArray)

    /** What was placed, there, and its echo: an array, or a buffer that the next call writes to. Blocks. */
    public fun placed(): Any

    /**
     * How often a byte of a message is copied on its way from C to Java's answer and back, Java's look at both
     * included.
     */
    public val copiesAsked: Int

    /** Has C ask Java: it sends the message that it is given here to `answer`, and gives what that answered. Blocks. */
    public fun asked(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray

    override fun close() {}
}

/** The largest message of any row. */
public const val MESSAGE_BYTES_MAX: Int = 1 shl 20

/** Arrays of the heap, which C has to copy. */
internal class ByArrays : Crossing {
    private var own = ByteArray(0)

    override val copiesEncoded: Int = 2
    override val copiesPlaced: Int = 2

    override fun encoded(message: ByteArray): ByteArray = Peers.echoArray(message)

    override fun place(bytes: ByteArray) {
        own = bytes
    }

    override fun placed(): Any = Peers.echoArray(own)

    /** Out of the array that C is given, into the one that it makes for Java, and out of Java's. */
    override val copiesAsked: Int = 3

    override fun asked(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray =
        Peers.askArray(message, answer)
}

/** Two direct buffers, kept: C copies from one into the other. An encoded message is copied in and out by Java. */
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

    /** Into one buffer and out of it, for Java's answer; into the other one and out of it. */
    override val copiesAsked: Int = 4

    override fun asked(message: ByteArray, answer: UnaryOperator<ByteArray>): ByteArray {
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
