// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** A sink that records the calls of its transport and lets a test wait for them. */
class Log : ChannelSink {
    private val lock = ReentrantLock()
    private val changed = lock.newCondition()
    val frames = ArrayList<ByteArray>()
    val reasons = ArrayList<CloseReason>()
    var drains = 0
    /** Called for each frame, after the frame was recorded. */
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

    /** Waits until the condition holds. Throws TimeoutException after 60 s, because the condition may never hold. */
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

/** Returns bytes that depend on their position and on `seed`, so that mixed-up bytes are noticed. */
fun pattern(size: Int, seed: Int = 1): ByteArray = ByteArray(size) { (it * 31 + seed).toByte() }
