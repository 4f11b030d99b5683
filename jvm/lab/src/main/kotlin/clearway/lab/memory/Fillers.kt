// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.memory

import clearway.lab.foreign.Foreign
import clearway.lab.jni.Peers
import java.nio.ByteBuffer

/** All mechanisms that fill a buffer, by name, except for the reference in C alone. */
internal object Fillers {
    /** A mechanism that fills a buffer. `problem` says why it cannot run here and what to do, or is null if it can. */
    class Mechanism(val name: String, val problem: String?, val open: (Int) -> Filler)

    const val REFERENCE: String = "c"

    val all: List<Mechanism> by lazy {
        val java = listOf(Mechanism("arrays-fill", null, ::byArraysFill), Mechanism("buffer-put", null, ::ByPut))
        val jni =
            listOf<Pair<String, (Int) -> Filler>>(
                    "jni-direct" to ::ByDirectBuffer,
                    "jni-elements" to { InArray(it, Peers::fillElements) },
                    "jni-critical" to { InArray(it, Peers::fillCritical) },
                )
                .map { (name, open) ->
                    Mechanism(name, Peers.problem()) {
                        Peers.load()
                        open(it)
                    }
                }
        val foreign =
            Foreign.fillers.map { name -> Mechanism(name, Foreign.problemOf(name)) { Foreign.filler(name, it) } }
        jni + java + foreign
    }

    fun named(name: String): Mechanism =
        requireNotNull(all.find { it.name == name }) {
            "no such mechanism on this host: $name ($REFERENCE, ${all.joinToString { it.name }})"
        }
}

private fun byArraysFill(bytes: Int): Filler = InArray(bytes) { array, value -> array.fill(value.toByte()) }

/** Fills an array on the JVM's heap. */
private class InArray(private val bytes: Int, private val fillArray: (ByteArray, Int) -> Unit) : Filler {
    private var array = ByteArray(bytes)

    override fun renew() {
        array = ByteArray(bytes)
    }

    override fun fill(value: Int) = fillArray(array, value)

    override fun holds(value: Int): Boolean = array.all { it == value.toByte() }
}

/** Fills a direct buffer. The JVM zeroes the buffer on allocation, and the garbage collector frees it. */
private open class InDirect(private val bytes: Int, private val fillBuffer: (ByteBuffer, Int) -> Unit) : Filler {
    private var buffer: ByteBuffer = ByteBuffer.allocateDirect(bytes)

    override fun renew() {
        buffer = ByteBuffer.allocateDirect(bytes)
    }

    override fun fill(value: Int) = fillBuffer(buffer, value)

    override fun holds(value: Int): Boolean = (0 until bytes).all { buffer.get(it) == value.toByte() }
}

private class ByDirectBuffer(bytes: Int) :
    InDirect(bytes, { buffer, value -> Peers.fillDirect(buffer, bytes.toLong(), value) })

/** Fills with a loop, because `ByteBuffer` has no `fill`. */
private class ByPut(bytes: Int) :
    InDirect(bytes, { buffer, value -> for (at in 0 until bytes) buffer.put(at, value.toByte()) })
