// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

import com.sun.management.GarbageCollectionNotificationInfo
import java.lang.management.ManagementFactory
import javax.management.ListenerNotFoundException
import javax.management.NotificationEmitter
import javax.management.NotificationListener
import javax.management.openmbean.CompositeData

/**
 * The collector's pauses, as the JVM's own beans tell them: to the millisecond, some milliseconds after their end. Told
 * on a thread of the JVM's.
 */
internal class Collections(private val paused: (startMs: Double, endMs: Double) -> Unit) : AutoCloseable {
    private val zeroMs = jvmStartMs()
    private val emitters =
        ManagementFactory.getGarbageCollectorMXBeans()
            // Beans of concurrent collectors that count whole cycles, in which the app runs on.
            .filter { !it.name.endsWith("Cycles") }
            .filterIsInstance<NotificationEmitter>()
    private val listener = NotificationListener { notification, _ ->
        if (notification.type == GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION) {
            val info = GarbageCollectionNotificationInfo.from(notification.userData as CompositeData).gcInfo
            paused(zeroMs + info.startTime, zeroMs + info.endTime)
        }
    }

    /** Why collections cannot be seen, or null. */
    val missing: String? = if (emitters.isEmpty()) "this JVM does not tell its collections" else null

    init {
        for (emitter in emitters) emitter.addNotificationListener(listener, null, null)
    }

    override fun close() {
        for (emitter in emitters) {
            try {
                emitter.removeNotificationListener(listener)
            } catch (_: ListenerNotFoundException) {
                // Closed before: nothing is left to remove.
            }
        }
    }
}

/**
 * The JVM's start, from which the collector's times count, on the meter's clock. Uptime comes in whole ms: the smallest
 * difference of some readings is the nearest. Blocks for up to 1 ms.
 */
private fun jvmStartMs(): Double {
    val runtime = ManagementFactory.getRuntimeMXBean()
    val first = runtime.uptime
    var smallest = Double.POSITIVE_INFINITY
    do {
        val uptime = runtime.uptime
        smallest = minOf(smallest, MeterClock.nowMs() - uptime)
    } while (uptime == first)
    return smallest
}
