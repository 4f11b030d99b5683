// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.FakeClock
import clearway.channel.MethodTable
import clearway.channel.Outcome
import clearway.channel.Wire
import clearway.channel.transport.ChannelSink
import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.CloseCode
import clearway.channel.transport.CloseReason
import clearway.channel.transport.Log
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.SerialTasks
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Tests of application code that throws, hangs or calls back into the endpoint, at every point of [POINTS]. */
class ForeignCodeTest {
    private fun each(test: String, points: List<Point> = POINTS, act: (Wire, Point) -> Unit): List<DynamicTest> =
        listOf(Wire.CLEARWAY, Wire.PLAIN).flatMap { wire ->
            points.map { point -> dynamicTest("$wire: ${point.name} $test") { act(wire, point) } }
        }

    /** Calls the foreign code at a point, waits until it has ended and all has settled, and then runs `check`. */
    private fun reach(wire: Wire, point: Point, foreign: Scene.() -> Unit, check: Scene.() -> Unit) =
        Scene(wire, foreign).use { scene ->
            val futures = point.reach(scene)
            scene.awaitLeft()
            scene.settled(futures)
            scene.check()
        }

    @TestFactory
    fun `everything settles and the channel goes on when foreign code throws`(): List<DynamicTest> =
        THROWING.flatMap { (what, throwing) ->
            each("throws $what") { wire, point -> reach(wire, point, { throwing() }) { assertWorks() } }
        }

    @TestFactory
    fun `everything settles and the channel goes on when foreign code calls the endpoint`(): List<DynamicTest> {
        val calls: Scene.() -> Unit = {
            onExecute = {}
            for (end in listOf(a, b)) {
                end.methods("other").call<Any?>("it")
                end.events("other").listen<Any?>().close()
                end.messages("other").post(1)
                end.methods("another").handle(MethodTable()).close()
                end.stats()
            }
        }
        return each("calls its endpoint") { wire, point -> reach(wire, point, calls) { assertWorks() } }
    }

    @TestFactory
    fun `everything settles when foreign code closes the endpoint`(): List<DynamicTest> =
        each("closes its endpoint") { wire, point ->
            reach(wire, point, { b.terminate() }) {
                for (end in listOf(a, b)) end.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
            }
        }

    @TestFactory
    fun `neighbours are served and the end settles everything when foreign code hangs`(): List<DynamicTest> =
        each("hangs", HANGING) { wire, point ->
            val gate = CountDownLatch(1)
            try {
                Scene(wire) { gate.await() }
                    .use { scene ->
                        val futures = point.reach(scene)
                        scene.awaitReached()
                        scene.assertServes()
                        scene.b.terminate()
                        scene.settled(futures)
                        scene.a.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
                    }
            } finally {
                gate.countDown()
            }
        }

    private companion object {
        /** The points at which application code may block: those that run on the executor's threads. */
        val HANGING =
            POINTS.filter { point ->
                listOf("handler of", "a method", "stage that", "source of", "an iter", "a handler's codec").any {
                    it in point.name
                } && "onCancel" !in point.name && "executor" !in point.name
            }
    }
}

/** Two connected endpoints. `b` serves with application code that calls [act]; `a` makes the calls. */
internal class Scene(wire: Wire, private val foreign: Scene.() -> Unit) : AutoCloseable {
    private var ended = false
    private val reached = CountDownLatch(1)
    private val left = CountDownLatch(1)
    private val threads = Executors.newCachedThreadPool { task -> Thread(task, "scene").apply { isDaemon = true } }
    /** The action that `b`'s executor runs before each task. */
    @Volatile var onExecute: () -> Unit = {}
    /** The action that `b`'s error listener runs for each error. */
    @Volatile var onError: () -> Unit = {}
    val errors = LinkedBlockingQueue<Throwable>()
    val clock = FakeClock()
    val a: Endpoint
    val b: Endpoint

    init {
        val (here, there) = MemoryTransport.pair()
        val executor = Executor { task ->
            onExecute()
            threads.execute(task)
        }
        val serving =
            EndpointOptions().wire(wire).clock(clock).executor(executor).onError { error, _ ->
                errors += error
                onError()
            }
        val asking = EndpointOptions().wire(wire).clock(clock).onError { error, _ -> errors += error }
        val connecting = Endpoint.connect(here, asking)
        b = Endpoint.connect(there, serving).get(LIMIT, TimeUnit.SECONDS)
        a = connecting.get(LIMIT, TimeUnit.SECONDS)
        b.methods("probe").handle(MethodTable().on("it") { args, _ -> args })
    }

    /** The application code under test. The points call it. */
    fun act() {
        reached.countDown()
        try {
            foreign()
        } finally {
            left.countDown()
        }
    }

    fun awaitReached() {
        check(reached.await(LIMIT, TimeUnit.SECONDS)) { "the point was not reached" }
    }

    fun awaitLeft() {
        check(left.await(LIMIT, TimeUnit.SECONDS)) { "the point was not reached, or did not end" }
    }

    fun settled(futures: List<CompletableFuture<*>>) {
        for (each in futures) Outcome.of(each).get(LIMIT, TimeUnit.SECONDS)
    }

    /** Ends `a`. Used by points that only the end of the connection reaches. */
    fun terminate() {
        ended = true
        a.terminate()
    }

    /**
     * Checks that both ends answer (unless [terminate] was called), that both close on request, and that no work is
     * left.
     */
    fun assertWorks() {
        if (!ended) assertServes()
        val closing = listOf(a.closeAsync(), b.closeAsync())
        closing.forEach { it.get(LIMIT, TimeUnit.SECONDS) }
        for (end in listOf(a, b)) {
            val counts = end.stats().run { listOf(calls, handling, listening, serving) }
            assertEquals(listOf(0, 0, 0, 0), counts)
        }
    }

    fun assertServes() {
        onExecute = {}
        assertEquals(7, a.methods("probe").call<Int>("it", 7).get(LIMIT, TimeUnit.SECONDS))
    }

    override fun close() {
        a.terminate()
        b.terminate()
        threads.shutdownNow()
    }

    companion object {
        /** Maximum waiting time, in seconds. Only a test that hangs reaches it. */
        const val LIMIT = 60L
    }
}

/** A Throwable that is neither an Exception nor an Error. The JVM can throw any Throwable. */
class Odd : Throwable("odd")

/** An exception whose `message` throws. */
class Mute : RuntimeException() {
    override val message: String
        get() = throw IllegalStateException("the message throws")
}

/** The things that application code may throw, by name. */
val THROWING: Map<String, () -> Nothing> =
    linkedMapOf(
        "an exception" to { throw IllegalStateException("broken") },
        "a checked exception" to { throw java.io.IOException("broken") },
        "an AssertionError" to { throw AssertionError("broken") },
        "a StackOverflowError" to ::overflow,
        "Kotlin's TODO()" to { TODO() },
        "an OutOfMemoryError" to { throw OutOfMemoryError("none left") },
        "a Throwable of its own" to { throw Odd() },
        "an exception without words" to { throw Mute() },
    )

/** Runs a test for each thing that may be thrown. */
internal fun each(act: (throwing: () -> Nothing) -> Unit): List<DynamicTest> =
    THROWING.map { (what, throwing) -> dynamicTest("it throws $what") { act(throwing) } }

private fun overflow(): Nothing =
    try {
        error("it ends at ${deeper(0)}")
    } catch (thrown: StackOverflowError) {
        thrown.stackTrace = thrown.stackTrace.copyOf(4) // Keeps the printed trace short.
        throw thrown
    }

private fun deeper(depth: Int): Int = 1 + deeper(depth + 1)

/** Tests of an executor that refuses tasks of [SerialTasks]. */
class RefusingExecutorTest {
    @TestFactory
    fun `a task that arrives while the executor refuses another one is run, or is refused itself`() =
        listOf(false, true).map { refusesAll ->
            dynamicTest(if (refusesAll) "the executor refuses all" else "the executor refuses one") {
                val passed = AtomicInteger()
                val begun = CountDownLatch(1)
                val mayRefuse = CountDownLatch(1)
                val tasks = SerialTasks { run ->
                    val isFirst = passed.incrementAndGet() == 1
                    if (isFirst) {
                        begun.countDown()
                        mayRefuse.await()
                    }
                    if (isFirst || refusesAll) throw RejectedExecutionException("full")
                    run.run()
                }
                val ran = LinkedBlockingQueue<String>()
                val one = CompletableFuture.runAsync { tasks.run { ran += "one" } }
                begun.await()
                val two = runCatching { tasks.run { ran += "two" } }
                mayRefuse.countDown()
                val refused = listOf(Outcome.of(one).get(Scene.LIMIT, TimeUnit.SECONDS).error, two.exceptionOrNull())
                assertEquals(if (refusesAll) emptyList() else listOf("one", "two"), ran.toList())
                assertEquals(if (refusesAll) 0 else 2, refused.count { it == null })
            }
        }
}

/** Tests of an executor that drops a task of [SerialTasks] which it has accepted. */
class DroppingExecutorTest {
    @Test
    fun `a task that arrives after shutdownNow has dropped the waiting ones is refused`() {
        val pool = Executors.newSingleThreadExecutor()
        pool.submit { CountDownLatch(1).await() }
        val tasks = SerialTasks(pool)
        val ran = LinkedBlockingQueue<String>()
        tasks.run { ran += "one" }
        pool.shutdownNow()
        repeat(2) { assertThrows(RejectedExecutionException::class.java) { tasks.run { ran += "two" } } }
        assertTrue(pool.awaitTermination(Scene.LIMIT, TimeUnit.SECONDS))
        assertEquals(emptyList<String>(), ran.toList())
    }
}

/** Tests of an application's own transport that throws. */
class TransportTest {
    private class Throwing(private val to: ChannelTransport) : ChannelTransport by to {
        @Volatile var onSend: () -> Unit = {}
        @Volatile var onClose: () -> Unit = {}
        @Volatile var sink: ChannelSink? = null

        override fun open(sink: ChannelSink) {
            this.sink = sink
            to.open(sink)
        }

        override fun send(frame: ByteArray): Boolean {
            onSend()
            return to.send(frame)
        }

        override fun close(reason: CloseReason) {
            onClose()
            to.close(reason)
        }
    }

    private fun connect(): Pair<Throwing, Endpoint> {
        val (here, there) = MemoryTransport.pair()
        val transport = Throwing(here)
        val connecting = Endpoint.connect(transport, EndpointOptions().onError { _, _ -> })
        Endpoint.connect(there).get(Scene.LIMIT, TimeUnit.SECONDS)
        return Pair(transport, connecting.get(Scene.LIMIT, TimeUnit.SECONDS))
    }

    @TestFactory
    fun `an endpoint whose transport throws when it sends is closed, and settles everything`() = each { throwing ->
        val (transport, endpoint) = connect()
        val before = endpoint.methods("nobody").call<Any?>("it")
        transport.onSend = throwing
        val stream = endpoint.events("nobody").listen<Any?>()
        val under =
            listOf(before, endpoint.methods("nobody").call<Any?>("it"), endpoint.messages("m").post(1), stream.read())
        endpoint.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
        for (future in under) Outcome.of(future).get(Scene.LIMIT, TimeUnit.SECONDS)
        assertEquals(0, endpoint.stats().run { calls + handling + listening + serving })
    }

    @TestFactory
    fun `a connect whose transport throws when it sends the hello closes the transport`() = each { throwing ->
        val (here, there) = MemoryTransport.pair()
        val log = Log()
        there.open(log)
        val transport = Throwing(here).apply { onSend = throwing }
        assertTrue(runCatching { Endpoint.connect(transport) }.isFailure)
        assertFalse(here.send(ByteArray(1)), "the transport is open")
        assertEquals(CloseCode.FAILED, log.end().code)
    }

    @TestFactory
    fun `an endpoint whose transport throws when it closes ends all the same`() = each { throwing ->
        val (transport, endpoint) = connect()
        val call = endpoint.methods("nobody").call<Any?>("it")
        transport.onClose = throwing
        endpoint.terminate()
        endpoint.closed.get(Scene.LIMIT, TimeUnit.SECONDS)
        Outcome.of(call).get(Scene.LIMIT, TimeUnit.SECONDS)
    }
}
