// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** Records an end's notifications, and lets a test wait for them. */
class Log : ChannelSink {
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    val frames = ArrayList<ByteArray>()
    val reasons = ArrayList<CloseReason>()
    var drains = 0
    /** Called for each frame, after it was kept. */
    @Volatile var onFrame: (ByteArray) -> Unit = {}

    override fun frame(frame: ByteArray) {
        lock.withLock {
            check(reasons.isEmpty()) { "a frame after the end" }
            frames += frame
            changed.signalAll()
        }
        onFrame(frame)
    }

    override fun drained(): Unit =
        lock.withLock {
            drains++
            changed.signalAll()
        }

    override fun closed(reason: CloseReason): Unit =
        lock.withLock {
            reasons += reason
            changed.signalAll()
        }

    /** Waits until it holds. That it never does is what the limit is for. */
    fun until(met: Log.() -> Boolean): Unit =
        lock.withLock {
            while (!met()) if (!changed.await(60, TimeUnit.SECONDS)) throw TimeoutException("still waiting")
        }

    fun count(count: Int): List<ByteArray> {
        until { frames.size >= count }
        return lock.withLock { frames.toList() }
    }

    fun end(): CloseReason {
        until { reasons.isNotEmpty() }
        return reasons[0]
    }
}

/** Bytes that tell themselves apart. */
fun pattern(size: Int, seed: Int = 1): ByteArray = ByteArray(size) { (it * 31 + seed).toByte() }
