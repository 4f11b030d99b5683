// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

import clearway.lab.foreign.Foreign
import clearway.lab.jni.Peers
import clearway.lab.protocol.Cell
import clearway.lab.protocol.Measured
import clearway.lab.protocol.Samples
import java.nio.ByteBuffer
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject

/** A mechanism that fills a buffer. One thread uses it. Owns its memory; `close` frees it. */
public interface Filler : AutoCloseable {
    /**
     * Frees the memory that [renew] will replace, unless the garbage collector frees it. Called for fresh memory; not
     * timed.
     */
    public fun release() {}

    /** Allocates new memory in place of the old memory. Called for fresh memory; timed. */
    public fun renew()

    /** Fills the buffer with `value`, from 0 to 255. Always timed. */
    public fun fill(value: Int)

    /** Whether every byte of the buffer is `value`, as Java reads it. */
    public fun holds(value: Int): Boolean

    override fun close() {}
}

/** All mechanisms that fill a buffer, by name, except for the reference in C alone. */
internal object Fillers {
    /** A mechanism that fills a buffer. `problem` says why it cannot run here and what to do, or is null if it can. */
    class Mechanism(val name: String, val problem: String?, val open: (Int) -> Filler)

    const val REFERENCE: String = "c"

    val all: List<Mechanism> by lazy {
        val jni =
            listOf<Pair<String, (Int) -> Filler>>("jni-direct" to ::ByDirectBuffer, "jni-elements" to ::ByElements)
                .map { (name, open) ->
                    Mechanism(name, Peers.problem()) {
                        Peers.load()
                        open(it)
                    }
                }
        val foreign =
            Foreign.fillers.map { name -> Mechanism(name, Foreign.problemOf(name)) { Foreign.filler(name, it) } }
        jni + foreign
    }

    fun named(name: String): Mechanism =
        requireNotNull(all.find { it.name == name }) {
            "no such mechanism on this host: $name ($REFERENCE, ${all.joinToString { it.name }})"
        }
}

/** Fills a copy of an array on the JVM's heap, which JNI copies back. */
private class ByElements(private val bytes: Int) : Filler {
    private var array = ByteArray(bytes)

    override fun renew() {
        array = ByteArray(bytes)
    }

    override fun fill(value: Int) = Peers.fillElements(array, value)

    override fun holds(value: Int): Boolean = array.all { it == value.toByte() }
}

/** Fills a direct buffer. The JVM zeroes the buffer on allocation, and the garbage collector frees it. */
private class ByDirectBuffer(private val bytes: Int) : Filler {
    private var buffer: ByteBuffer = ByteBuffer.allocateDirect(bytes)

    override fun renew() {
        buffer = ByteBuffer.allocateDirect(bytes)
    }

    override fun fill(value: Int) = Peers.fillDirect(buffer, bytes.toLong(), value)

    override fun holds(value: Int): Boolean = (0 until bytes).all { buffer.get(it) == value.toByte() }
}

/**
 * Measures fills of one size, one after another. The memory was filled before (warm), or is allocated for each fill
 * (fresh).
 */
internal fun measureFills(cell: Cell, find: (String) -> (Int) -> Filler = { Fillers.named(it).open }): Measured {
    val bytes = cell.int("bytes")
    val fresh = cell.text("memory") == "fresh"
    val repetitions = cell.int("repetitions")
    val batch = if (fresh) 1 else maxOf(1, BATCH_BYTES / bytes)
    if (cell.mechanism == Fillers.REFERENCE) return reference(bytes, fresh, repetitions, batch)
    val open = find(cell.mechanism)
    warmUp(open)
    return open(bytes).use { filler ->
        val endNs = System.nanoTime() + (cell.number("timeMsMax") * 1e6).toLong()
        repeat(TOUCHES) { filler.fill(it) }
        val ns = LongArray(repetitions)
        var done = 0
        while (done < repetitions && (done == 0 || System.nanoTime() < endNs)) {
            val value = done and 255
            if (fresh) filler.release()
            val begin = System.nanoTime()
            if (fresh) filler.renew()
            repeat(batch) { filler.fill(value) }
            ns[done++] = (System.nanoTime() - begin) / batch
        }
        measured(ns.copyOf(done), filler.holds((done - 1) and 255), batch)
    }
}

/** Fills a small buffer until the code is compiled. */
private fun warmUp(open: (Int) -> Filler) {
    open(WARM_UP_BYTES).use { filler ->
        val end = System.nanoTime() + WARM_UP_NS_MAX
        var calls = 0
        while (calls < WARM_UP_CALLS && System.nanoTime() < end) filler.fill(calls++ and 255)
    }
}

/** Measures in C alone: the loop, the clock and the memory are C's. */
private fun reference(bytes: Int, fresh: Boolean, repetitions: Int, batch: Int): Measured {
    Peers.load()
    val ns = DoubleArray(repetitions)
    val filled = Peers.reference(bytes.toLong(), fresh, batch.toLong(), ns)
    return measured(LongArray(repetitions) { Math.round(ns[it]) }, filled, batch)
}

private fun measured(ns: LongArray, filled: Boolean, batch: Int): Measured =
    Measured(
        mapOf("fill" to Samples("us", ns, batch)),
        emptyMap(),
        buildJsonObject { put("filled", JsonPrimitive(filled)) },
    )

/**
 * A batch of warm fills covers this many bytes. Small fills are timed in batches, because a clock reading takes as long
 * as a fill of 4 KB.
 */
private const val BATCH_BYTES = 1 shl 18

/**
 * Maximum number of fills of the warm-up. C2 compiles a method after ten thousand calls, and needs some time for it.
 */
private const val WARM_UP_CALLS = 40_000
private const val WARM_UP_BYTES = 4096
private const val WARM_UP_NS_MAX = 500_000_000L
/** Number of untimed fills, which map the memory and fill the caches. */
private const val TOUCHES = 4
