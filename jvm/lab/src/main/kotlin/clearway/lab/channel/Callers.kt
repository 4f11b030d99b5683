// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.channel

import clearway.lab.foreign.Foreign
import clearway.lab.jni.Peers
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.function.UnaryOperator

/** Calls a peer that echoes every message. One thread uses it. `close` ends the peer. */
public interface Caller : AutoCloseable {
    /** Number of bytes that the mechanism has copied so far, in both directions, by its own count. */
    public val copiedBytes: Long

    /** Whether the mechanism can start a call without waiting for its answer. If not, [send] throws. */
    public val isLater: Boolean

    /**
     * Sends the value of the measured [Row] and returns the echo. Blocks until the echo arrives. Echoed bytes may be a
     * view, which the next call invalidates.
     */
    public fun call(): Any?

    /**
     * Starts a call without waiting for its answer. Call it only if [isLater] is true. Several calls can be in flight.
     */
    public fun send(): Pending = error("the call has returned its answer: nothing is pending")
}

/** A call in flight. */
public fun interface Pending {
    /** Waits for the answer and returns it. Call it once, in the order of the calls. Blocks. */
    public fun await(): Any?
}

/** All mechanisms that call native code in this process, by name. */
internal object Callers {
    /**
     * A mechanism that calls native code. `problem` says why it cannot run here and what to do, or is null if it can.
     */
    class Mechanism(val name: String, val problem: String?, val open: (Row) -> Caller)

    val native: List<Mechanism> by lazy {
        listOf(
            Mechanism("jni-array", Peers.problem()) { row -> byJni(row, ::ByArrays) },
            Mechanism("jni-direct", Peers.problem()) { row -> byJni(row, ::ByDirectBuffers) },
            Mechanism("ffm", Foreign.problemOf("ffm")) { row -> CrossingCaller(row, Foreign.crossing("ffm")) },
            Mechanism("clearway", Foreign.problemOf("clearway")) { row -> Foreign.caller("clearway", row) },
        )
    }

    private fun byJni(row: Row, open: () -> Crossing): Caller {
        Peers.load()
        return CrossingCaller(row, open())
    }

    fun named(name: String): Mechanism =
        requireNotNull(native.find { it.name == name }) {
            "no such mechanism on this host: $name (${native.joinToString { it.name }})"
        }
}

/**
 * Calls native code directly, without Clearway. Encodes values other than bytes as MessagePack. Uses a single-threaded
 * executor if the row is queued. Owns `crossing`, and `close` closes it.
 */
internal class CrossingCaller(private val row: Row, private val crossing: Crossing) : Caller {
    private val pack = MessagePackCodec(row)
    private val again = UnaryOperator<ByteArray> { pack.write(pack.read(it)) }
    private val queue: ExecutorService? = if (row.queued) Executors.newSingleThreadExecutor() else null

    init {
        if (row.isBinary) crossing.place(row.value as ByteArray)
    }

    override var copiedBytes: Long = 0
        private set

    override val isLater: Boolean
        get() = row.queued

    override fun call(): Any? {
        if (row.queued) return send().await()
        if (row.isNativeToHost) return callFromNative()
        if (row.isBinary) return counted(crossing.placed())
        return read(crossing.encoded(pack.write()))
    }

    override fun send(): Pending {
        val to = checkNotNull(queue) { "the row is not queued" }
        if (row.isBinary) {
            val answer = to.submit(Callable { crossing.placed() })
            return Pending { counted(answer.get()) }
        }
        val message = pack.write()
        val answer = to.submit(Callable { crossing.encoded(message) })
        return Pending { read(answer.get()) }
    }

    private fun callFromNative(): Any? {
        val answer = crossing.callHost(pack.write(), again)
        // Counts two encodings, too: the message, and Java's answer.
        copiedBytes += (2L + crossing.copiesNativeToHost) * answer.size
        return pack.read(answer)
    }

    private fun counted(answer: Any): Any {
        copiedBytes += crossing.copiesPlaced * (row.value as ByteArray).size.toLong()
        return answer
    }

    private fun read(answer: ByteArray): Any? {
        // The encoding is one more copy.
        copiedBytes += (1L + crossing.copiesEncoded) * answer.size
        return pack.read(answer)
    }

    override fun close() {
        queue?.shutdownNow()
        queue?.awaitTermination(END_S, TimeUnit.SECONDS)
        crossing.close()
    }

    private companion object {
        const val END_S = 5L
    }
}
