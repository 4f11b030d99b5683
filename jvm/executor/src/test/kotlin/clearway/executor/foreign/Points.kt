// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.foreign

import clearway.executor.AdaptiveExecutor
import clearway.executor.SiteOptions
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Future
import kotlin.concurrent.thread

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
