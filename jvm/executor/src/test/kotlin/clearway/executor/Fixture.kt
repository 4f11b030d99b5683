// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import java.nio.file.Files
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordedEvent
import jdk.jfr.consumer.RecordingFile
import kotlin.concurrent.thread
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertFalse

/** Gives each test an executor for two processors, and ends it. */
abstract class WithExecutor(elasticMax: Int = 64) {
    protected val executor: AdaptiveExecutor = AdaptiveExecutor(processors = 2, elasticMax = elasticMax)
    protected val ordered: Site by lazy { executor.site("ordered", SiteOptions().ordered()) }

    @AfterEach
    fun close() {
        executor.shutdownNow()
        executor.close()
    }
}

/** Work that only an interrupt ends. */
class Hanging(threads: Int = 1) : Runnable {
    /** Opens when as many threads as the constructor was given have begun the work. */
    val begun: CountDownLatch = CountDownLatch(threads)
    /** Opens when as many have left it. */
    val interrupted: CountDownLatch = CountDownLatch(threads)
    val calls: AtomicInteger = AtomicInteger()
    val running: AtomicInteger = AtomicInteger()

    override fun run() {
        calls.incrementAndGet()
        running.incrementAndGet()
        begun.countDown()
        try {
            CountDownLatch(1).await()
        } finally {
            running.decrementAndGet()
            interrupted.countDown()
        }
    }
}

/** Runs `act` on a thread of its own. The future completes with what `act` throws, or with null. */
fun elsewhere(act: () -> Unit): Pair<Thread, CompletableFuture<Throwable?>> {
    val outcome = CompletableFuture<Throwable?>()
    return Pair(thread(isDaemon = true) { outcome.complete(runCatching(act).exceptionOrNull()) }, outcome)
}

/** Waits for a future. The time limit is for futures that never complete. */
fun <T> Future<T>.ended(): T = get(1, TimeUnit.MINUTES)

/** Returns the live threads of all executors. */
fun threads(): Set<Thread> = Thread.getAllStackTraces().keys.filter { it.name.startsWith("clearway-") }.toSet()

/** Waits until the threads of executors that were not there `before` have ended. `what` says where one was left. */
fun assertNoneLeft(before: Set<Thread>, what: String = "", others: Set<Thread> = emptySet()) {
    for (each in others + (threads() - before)) {
        each.join(60_000)
        assertFalse(each.isAlive, "${each.name} was left$what")
    }
}

/** Returns the events with these names that a flight recording of `run` has, in the order of their begins. */
fun recorded(vararg names: String, run: () -> Unit): List<RecordedEvent> {
    val file = Files.createTempFile("clearway", ".jfr")
    try {
        Recording().use { recording ->
            for (name in names) recording.enable(name)
            recording.start()
            run()
            recording.stop()
            recording.dump(file)
        }
        // Sorts the events, because a recording file orders them by the threads' buffers.
        return RecordingFile.readAllEvents(file).filter { it.eventType.name in names }.sortedBy { it.startTime }
    } finally {
        Files.delete(file)
    }
}
