// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.foreign

import clearway.executor.AdaptiveExecutor
import clearway.executor.Hanging
import clearway.executor.SiteOptions
import clearway.executor.coroutines.asDispatcher
import clearway.executor.elsewhere
import clearway.executor.rxjava3.asScheduler
import io.reactivex.rxjava3.core.Completable
import io.reactivex.rxjava3.core.Flowable
import io.reactivex.rxjava3.core.Scheduler
import io.reactivex.rxjava3.core.Single
import io.reactivex.rxjava3.disposables.Disposable
import io.reactivex.rxjava3.plugins.RxJavaPlugins
import java.util.concurrent.Callable
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutionException
import java.util.concurrent.Future
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Tests foreign code that throws anything, hangs, or calls the executor, at every point of [POINTS]. */
class ForeignCodeTest {
    @BeforeEach fun quiet(): Unit = RxJavaPlugins.setErrorHandler {}

    @AfterEach fun loud(): Unit = RxJavaPlugins.reset()

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

    private fun assertWorks(executor: AdaptiveExecutor, point: Point? = null) {
        point?.works?.invoke(executor)
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

    private fun each(
        test: String,
        points: List<Point> = POINTS,
        act: (Point, AdaptiveExecutor) -> Unit,
    ): List<DynamicTest> =
        points.map { point ->
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
                assertWorks(executor, point)
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
            assertWorks(executor, point)
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
        each("hangs", POINTS.filter { it.mayHang }) { point, executor ->
            val hangs = Hanging()
            val futures = point.reach(executor) { hangs.run() }
            assertTrue(hangs.begun.await(LIMIT, TimeUnit.SECONDS))
            assertEquals(1, executor.submit(Callable { 1 }).get(LIMIT, TimeUnit.SECONDS))
            executor.runAll(executor.site("free"), 10) {}
            val left = executor.shutdownNow().toSet<Any>()
            assertTrue(executor.awaitTermination(LIMIT, TimeUnit.SECONDS))
            futures.filter { it !in left }.forEach(::settled)
        }

    @TestFactory
    fun `work that hangs does not hold up other work of its dispatcher or scheduler`(): List<DynamicTest> {
        fun test(name: String, start: (AdaptiveExecutor, act: () -> Unit) -> Unit) =
            dynamicTest(name) {
                AdaptiveExecutor(processors = 2, elasticMax = 16).use { executor ->
                    val (release, ended) = listOf(CountDownLatch(1), CountDownLatch(8))
                    repeat(8) { start(executor) { release.await().also { ended.countDown() } } }
                    val ran = CountDownLatch(1)
                    start(executor) { ran.countDown() }
                    assertTrue(ran.await(LIMIT, TimeUnit.SECONDS))
                    release.countDown()
                    assertTrue(ended.await(LIMIT, TimeUnit.SECONDS))
                    coroutinesWork(executor, isOrdered = false)
                    schedulerWorks(executor, isOrdered = false)
                    assertWorks(executor)
                }
            }
        return listOf(
            test("a dispatcher") { executor, act ->
                CoroutineScope(SupervisorJob()).launch(executor.dispatcher(isOrdered = false)) { act() }
            },
            test("a scheduler") { executor, act -> executor.scheduler(isOrdered = false).scheduleDirect(act) },
        )
    }
}

/** Time limit in seconds. Only a hang takes this long. */
private const val LIMIT = 60L

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
        "a CancellationException" to { throw CancellationException("broken") },
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
 * `works` checks what only this kind of point uses. Code that hangs there is interrupted if `mayHang` is true.
 */
internal class Point(
    val name: String,
    val mayHang: Boolean = true,
    val works: (AdaptiveExecutor) -> Unit = {},
    val reach: (AdaptiveExecutor, act: () -> Unit) -> List<Future<*>>,
)

/** Runs `act` on a new thread that does not belong to the executor. */
private fun outside(act: () -> Unit): Future<*> = elsewhere(act).second

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
            listOf(outside { executor.runAll(executor.site("new"), 20) { if (it == 3) act() } })
        },
        Point("an item of a trivial site") { executor, act ->
            val site = executor.site("trivial")
            repeat(200) { executor.runAll(site, 100) {} }
            listOf(outside { executor.runAll(site, 100) { if (it == 3) act() } })
        },
        Point("an item of an ordered site") { executor, act ->
            listOf(outside { executor.runAll(executor.ordered(), 20) { if (it == 3) act() } })
        },
        Point("an item of a batch that nobody waits in") { executor, act ->
            listOf(executor.runAllAsync(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("an item of an ordered batch that nobody waits in") { executor, act ->
            listOf(executor.runAllAsync(executor.ordered(), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("a function of mapAll") { executor, act ->
            listOf(outside { executor.mapAll(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() } })
        },
        Point("a function of mapAllAsync") { executor, act ->
            listOf(executor.mapAllAsync(executor.site("new"), (0 until 20).toList()) { if (it == 3) act() })
        },
        Point("a list's get(), in mapAll") { executor, act ->
            listOf(outside { executor.mapAll(executor.site("new"), Foreign(act)) { it } })
        },
        Point("a list's get()") { executor, act ->
            listOf(outside { executor.runAll(executor.site("new"), Foreign(act)) {} })
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
        Point("a carried thread-local, on the caller's thread", mayHang = false) { executor, act ->
            val site = executor.site("carries", SiteOptions().carry(local(false, act)))
            listOf(
                outside { executor.runAll(site, 20) {} },
                outside { executor.runAllAsync(site, (0 until 20).toList()) {}.get() },
                outside { executor.asExecutorService(site).submit {}.get() },
            )
        },
        Point("a carried thread-local, on a helper's thread", mayHang = false) { executor, act ->
            val site = executor.site("carries", SiteOptions().carry(local(true, act)))
            listOf(executor.runAllAsync(site, (0 until 20).toList()) {}, executor.asExecutorService(site).submit {})
        },
        Point("the handler of uncaught errors", mayHang = false) { executor, act ->
            val ordered = executor.asExecutorService(executor.ordered())
            for (service in listOf(executor, ordered)) service.execute {
                Thread.currentThread().setUncaughtExceptionHandler { _, _ -> act() }
                throw IllegalStateException("to the handler")
            }
            listOf(executor.submit {}, ordered.submit {})
        },
    ) + listOf(false, true).flatMap { coroutinePoints(it) + schedulerPoints(it) }

private fun AdaptiveExecutor.adapted(isOrdered: Boolean) = if (isOrdered) ordered() else site("adapted")

private fun AdaptiveExecutor.dispatcher(isOrdered: Boolean) = asDispatcher(adapted(isOrdered))

private fun AdaptiveExecutor.scheduler(isOrdered: Boolean) = asScheduler(adapted(isOrdered))

private fun coroutinesWork(executor: AdaptiveExecutor, isOrdered: Boolean) = runBlocking {
    val on = executor.dispatcher(isOrdered)
    assertEquals(1225, withTimeout(LIMIT * 1000) { List(50) { async(on) { it } }.awaitAll().sum() })
}

private fun schedulerWorks(executor: AdaptiveExecutor, isOrdered: Boolean) {
    val on = executor.scheduler(isOrdered)
    val each = Flowable.range(0, 50).flatMapSingle { item -> Single.fromCallable { item }.subscribeOn(on) }
    val sum = each.reduce(0) { a, b -> a + b }.timeout(LIMIT, TimeUnit.SECONDS).blockingGet()
    assertEquals(1225, sum)
}

/** Points at which the dispatcher runs coroutines. */
private fun coroutinePoints(isOrdered: Boolean): List<Point> {
    fun point(name: String, start: CoroutineScope.(on: CoroutineDispatcher, act: () -> Unit) -> Job) =
        Point("$name, ordered: $isOrdered", mayHang = false, { coroutinesWork(it, isOrdered) }) { executor, act ->
            val scope = CoroutineScope(SupervisorJob() + CoroutineExceptionHandler { _, _ -> })
            val ended = CompletableFuture<Unit>()
            scope.start(executor.dispatcher(isOrdered), act).invokeOnCompletion { ended.complete(Unit) }
            listOf(ended)
        }
    return listOf(
        point("a coroutine") { on, act -> async(on) { act() } },
        point("a coroutine after a suspension") { on, act -> async(on) { delay(1).also { act() } } },
        point("a coroutine's finally") { on, act ->
            async(on) {
                try {
                    delay(1)
                } finally {
                    act()
                }
            }
        },
        point("what is called when a coroutine ends") { on, act ->
            // A job that has already ended would call it here, on this thread, and throw at this test.
            val installed = Job()
            async(on) { installed.join() }
                .also {
                    it.invokeOnCompletion { act() }
                    installed.complete()
                }
        },
    )
}

/** Points at which the scheduler runs work. */
private fun schedulerPoints(isOrdered: Boolean): List<Point> {
    fun point(name: String, start: (on: Scheduler, act: () -> Unit) -> Unit) =
        Point("$name, ordered: $isOrdered", mayHang = false, { schedulerWorks(it, isOrdered) }) { executor, act ->
            start(executor.scheduler(isOrdered), act)
            emptyList()
        }
    return listOf(
        point("work that is scheduled") { on, act -> on.scheduleDirect(act) },
        point("delayed work") { on, act -> on.scheduleDirect(act, 1, TimeUnit.MILLISECONDS) },
        point("periodic work") { on, act -> on.schedulePeriodicallyDirect(act, 0, 1, TimeUnit.MINUTES) },
        point("a worker's work") { on, act -> on.createWorker().schedule(act) },
        point("a worker's delayed work") { on, act -> on.createWorker().schedule(act, 1, TimeUnit.MILLISECONDS) },
        point("a source") { on, act -> Completable.fromAction { act() }.subscribeOn(on).subscribe({}, {}) },
        point("an operator") { on, act -> Flowable.range(0, 10).observeOn(on).subscribe({ act() }, {}) },
        point("what follows an error") { on, act ->
            Completable.error(IllegalStateException("first")).observeOn(on).subscribe({}, { act() })
        },
        point("what disposing calls") { on, act -> on.scheduleDirect { Disposable.fromAction { act() }.dispose() } },
    )
}
