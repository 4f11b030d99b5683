// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.foreign

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Tests foreign code that throws anything, hangs, or calls the executor, at every point of [POINTS]. */
class ForeignCodeTest {
    /** Reaches a point, and waits until all its futures settle. */
    private fun reach(point: Point, executor: AdaptiveExecutor, foreign: () -> Unit) {
        val reached = CountDownLatch(1)
        val futures =
            point.reach(executor) {
                reached.countDown()
                foreign()
            }
        assertTrue(reached.await(LIMIT, TimeUnit.SECONDS), "the point was not reached")
        futures.forEach(::settled)
    }

    private fun settled(future: Future<*>) {
        try {
            future.get(LIMIT, TimeUnit.SECONDS)
        } catch (_: ExecutionException) {
            // Its cause is the foreign exception.
        } catch (_: CancellationException) {
            // The task did not run.
        }
    }

    private fun assertWorks(executor: AdaptiveExecutor) {
        val count = AtomicInteger()
        val ordered = executor.site("ordered", SiteOptions().ordered())
        executor.runAll(executor.site("new"), 50) { count.incrementAndGet() }
        executor.runAll(ordered, 50) { count.incrementAndGet() }
        for (site in listOf(executor.site("new"), ordered)) {
            executor.runAllAsync(site, List(50) { it }) { count.incrementAndGet() }.get(LIMIT, TimeUnit.SECONDS)
            assertEquals(1, executor.asExecutorService(site).submit(Callable { 1 }).get(LIMIT, TimeUnit.SECONDS))
        }
        assertEquals(200, count.get())
        assertEquals(List(50) { it + 1 }, executor.mapAll(ordered, List(50) { it }) { it + 1 })
        executor.shutdown()
        assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
    }

    private fun each(test: String, act: (Point, AdaptiveExecutor) -> Unit): List<DynamicTest> =
        POINTS.map { point ->
            dynamicTest("${point.name} $test") {
                val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                try {
                    act(point, executor)
                } finally {
                    executor.shutdownNow()
                }
            }
        }

    @TestFactory
    fun `every future settles and the executor continues when foreign code throws`(): List<DynamicTest> =
        THROWING.flatMap { (what, throwing) ->
            each("throws $what") { point, executor ->
                reach(point, executor) { throwing() }
                assertWorks(executor)
            }
        }

    @TestFactory
    fun `every future settles and the executor continues when foreign code calls it`(): List<DynamicTest> =
        each("calls the executor") { point, executor ->
            reach(point, executor) {
                val other = executor.site("other")
                executor.runAll(other, 3) { executor.runAll(executor.site("inner"), 3) {} }
                executor.runAllAsync(other, listOf(1, 2)) {}.join()
                executor.mapAll(other, listOf(1, 2)) { executor.mapAll(other, listOf(it)) { 1 } }
                executor.submit(Callable { 1 }).get()
                executor.asExecutorService(other).shutdownNow()
            }
            assertWorks(executor)
        }

    @TestFactory
    fun `every future settles and the executor ends when foreign code shuts it down`(): List<DynamicTest> =
        each("shuts the executor down") { point, executor ->
            val returned = HashSet<Any>()
            val shut = CountDownLatch(1)
            var futures = emptyList<Future<*>>()
            try {
                futures =
                    point.reach(executor) {
                        synchronized(returned) { returned.addAll(executor.shutdownNow()) }
                        shut.countDown()
                    }
            } catch (_: RejectedExecutionException) {
                // The point submits more work after the shutdown.
            }
            assertTrue(shut.await(LIMIT, TimeUnit.SECONDS))
            assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
            // A point may call `shutdownNow` twice. The lock waits for a call that has got its tasks but has not stored
            // them yet.
            val left = synchronized(returned) { returned.toSet() }
            futures.filter { it !in left }.forEach(::settled)
        }

    @TestFactory
    fun `other work runs, and shutdownNow settles every future, when foreign code hangs`(): List<DynamicTest> =
        POINTS.filter { "thread-local" !in it.name && "handler" !in it.name }
            .map { point ->
                dynamicTest("${point.name} hangs") {
                    val executor = AdaptiveExecutor(processors = 2, elasticMax = 16)
                    val hangs = CountDownLatch(1)
                    val futures =
                        point.reach(executor) {
                            hangs.countDown()
                            CountDownLatch(1).await()
                        }
                    assertTrue(hangs.await(LIMIT, TimeUnit.SECONDS))
                    assertEquals(1, executor.submit(Callable { 1 }).get(LIMIT, TimeUnit.SECONDS))
                    executor.runAll(executor.site("free"), 10) {}
                    val left = executor.shutdownNow().toSet<Any>()
                    assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
                    futures.filter { it !in left }.forEach(::settled)
                }
            }

    private companion object {
        /** Time limit in seconds. Only a hang takes this long. */
        const val LIMIT = 60L
    }
}

/** A Throwable that is neither an `Exception` nor an `Error`. The JVM lets code throw it. */
class Odd : Throwable("odd")

/** Functions that throw, by a description of the Throwable. */
val THROWING: Map<String, () -> Nothing> =
    linkedMapOf(
        "an exception" to { throw IllegalStateException("broken") },
        "a checked exception" to { throw java.io.IOException("broken") },
        "an InterruptedException" to { throw InterruptedException("of its own") },
        "an AssertionError" to { throw AssertionError("broken") },
        "a StackOverflowError" to ::overflow,
        "Kotlin's TODO()" to { TODO() },
        "an OutOfMemoryError" to { throw OutOfMemoryError("none left") },
        "a Throwable of its own" to { throw Odd() },
    )

private fun overflow(): Nothing =
    try {
        error("it ends at ${deeper(0)}")
    } catch (thrown: StackOverflowError) {
        // Shortens the stack trace, because a printed one would have a thousand lines.
        thrown.stackTrace = thrown.stackTrace.copyOf(4)
        throw thrown
    }

private fun deeper(depth: Int): Int = 1 + deeper(depth + 1)

/**
 * A point where the executor calls foreign code. `reach` triggers the call, and returns the futures that must settle.
 */
internal class Point(val name: String, val reach: (AdaptiveExecutor, act: () -> Unit) -> List<Future<*>>)

/** Runs `act` on a new thread that does not belong to the executor. */
private fun elsewhere(act: () -> Unit): Future<*> {
    val done = CompletableFuture<Unit>()
    thread(isDaemon = true) {
        try {
            done.complete(act())
        } catch (thrown: Throwable) {
            done.completeExceptionally(thrown)
        }
    }
    return done
}

private fun AdaptiveExecutor.ordered() = site("ordered", SiteOptions().ordered())

/** A list whose methods are foreign code. */
private class Foreign(private val act: () -> Unit) : AbstractList<Int>(), RandomAccess {
    override val size = 10_000

    override fun get(index: Int): Int = index.also { if (it == 5) act() }
}

/**
 * Returns a thread-local whose initial value is foreign code. It calls that code either on threads of the executor
 * only, or on all other threads only.
 */
private fun local(onOwn: Boolean, act: () -> Unit): ThreadLocal<Int> =
    ThreadLocal.withInitial {
        if (Thread.currentThread().name.startsWith("clearway-") == onOwn) act()
        1
    }

/** All points at which the executor calls foreign code. Add new ones here. */
internal val POINTS: List<Point> =
    listOf(
        Point("an item") { executor, act ->
            listOf(elsewhere { executor.runAll(executor.site("new"), 20) { if (it == 3) act() } })
        },
        Point("an item of a trivial site") { executor, act ->
            val site = executor.site("trivial")
            repeat(200) { executor.runAll(site, 100) {} }
            listOf(elsewhere { executor.runAll(site, 100) { if (it == 3) act() } })
        },
        Point("an item of an ordered site") { executor, act ->
            listOf(elsewhere { executor.runAll(executor.ordered(), 20) { if (it == 3) act() } })
        },
        Point("an item of a batch that nobody waits in") { executor, act ->
            listOf(executor.runAllAsync(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("an item of an ordered batch that nobody waits in") { executor, act ->
            listOf(executor.runAllAsync(executor.ordered(), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("a function of mapAll") { executor, act ->
            listOf(elsewhere { executor.mapAll(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() } })
        },
        Point("a function of mapAllAsync") { executor, act ->
            listOf(executor.mapAllAsync(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("a list's get(), in mapAll") { executor, act ->
            listOf(elsewhere { executor.mapAll(executor.site("new"), Foreign(act)) { it } })
        },
        Point("a list's get()") { executor, act ->
            listOf(elsewhere { executor.runAll(executor.site("new"), Foreign(act)) {} })
        },
        Point("a Runnable") { executor, act ->
            val ended = CompletableFuture<Unit>()
            executor.execute {
                try {
                    act()
                } finally {
                    ended.complete(Unit)
                }
            }
            listOf(ended)
        },
        Point("a Callable") { executor, act -> listOf(executor.submit(Callable { act() })) },
        Point("a task of a site") { executor, act ->
            listOf(executor.asExecutorService(executor.site("tasks")).submit { act() })
        },
        Point("a Runnable of an ordered site") { executor, act ->
            val service = executor.asExecutorService(executor.ordered())
            service.execute { act() }
            listOf(service.submit {})
        },
        Point("a carried thread-local, on the caller's thread") { executor, act ->
            val site = executor.site("carries", SiteOptions().carry(local(false, act)))
            listOf(
                elsewhere { executor.runAll(site, 20) {} },
                elsewhere { executor.runAllAsync(site, (0 until 20).toList()) {}.get() },
                elsewhere { executor.asExecutorService(site).submit {}.get() },
            )
        },
        Point("a carried thread-local, on a helper's thread") { executor, act ->
            val site = executor.site("carries", SiteOptions().carry(local(true, act)))
            listOf(executor.runAllAsync(site, (0 until 20).toList()) {}, executor.asExecutorService(site).submit {})
        },
        Point("the handler of uncaught errors") { executor, act ->
            val ordered = executor.asExecutorService(executor.ordered())
            for (service in listOf(executor, ordered)) service.execute {
                Thread.currentThread().setUncaughtExceptionHandler { _, _ -> act() }
                throw IllegalStateException("to the handler")
            }
            listOf(executor.submit {}, ordered.submit {})
        },
    )
