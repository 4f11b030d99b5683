// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.ChannelError
import clearway.channel.ChannelException
import clearway.channel.EventSource
import clearway.channel.ListenOptions
import clearway.channel.MethodTable
import clearway.channel.RemoteException
import java.util.Random
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.onCompletion
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class EventFlowTest {
    /** A flow of numbers without an end. `running` counts its collections. */
    private class Numbers {
        val running = AtomicInteger()
        val drawn = AtomicInteger()

        fun from(first: Int): Flow<Int> = flow {
            running.incrementAndGet()
            try {
                var next = first
                while (true) {
                    drawn.incrementAndGet()
                    emit(next++)
                }
            } finally {
                running.decrementAndGet()
            }
        }
    }

    @Test
    fun `a flow collects all events in order and ends with the stream`() = connected { ends ->
        ends.there.events("count").serveEach({ to -> 1..(to as Int) })
        assertEquals((1..5000).toList(), ends.here.events("count").asFlow<Int>(5000).toList())
    }

    @Test
    fun `a served flow reaches a collected flow, in order, with its end and its error`() = connected { ends ->
        ends.there.events("count").serveFlow(this) { to ->
            flow {
                for (number in 1..(to as Int)) emit(number)
                if (to == 3) throw RemoteException("DRY", "no more numbers")
            }
        }
        val count = ends.here.events("count")
        assertEquals((1..2000).toList(), count.asFlow<Int>(2000).toList())
        val got = ArrayList<Int>()
        val failed = thrownBy<RemoteException> { count.asFlow<Int>(3).collect { got += it } }
        assertEquals(listOf(1, 2, 3), got)
        assertEquals("DRY", failed.code)
    }

    @Test
    fun `a collector that hangs gets no more events than its window`() = connected { ends ->
        val drawn = AtomicInteger()
        ends.there.events("count").serveEach({ generateSequence(1) { it + 1 }.onEach { drawn.set(it) }.asIterable() })
        ends.there.methods("drawn").handle(MethodTable().on("get") { _, _ -> drawn.get() })
        val hangs = CompletableDeferred<Unit>()
        val collector = launch {
            ends.here.events("count").asFlow<Int>(null, ListenOptions().window(4)).collect {
                hangs.complete(Unit)
                awaitCancellation()
            }
        }
        hangs.await()
        // One event was taken, and 4 may wait.
        assertTrue(ends.here.methods("drawn").awaitCall<Int>("get") <= 5)
        collector.cancelAndJoin()
        assertTrue(drawn.get() <= 5)
    }

    @Test
    fun `a served flow suspends while the listener's queue is full`() = connected { ends ->
        val numbers = Numbers()
        ends.there.events("count").serveFlow(this) { numbers.from(1) }
        val hangs = CompletableDeferred<Unit>()
        val collector = launch {
            val few = ListenOptions().window(2).capacity(3)
            ends.here.events("count").asFlow<Int>(null, few).collect {
                hangs.complete(Unit)
                awaitCancellation()
            }
        }
        hangs.await()
        repeat(1000) { yield() }
        // One event was taken, 2 were sent ahead, 3 wait in the queue, and one waits for room.
        assertTrue(numbers.drawn.get() <= 7)
        collector.cancelAndJoin()
        while (numbers.running.get() > 0) yield()
    }

    @Test
    fun `a served flow ends when an event is too large, also while the listener reads nothing`() = connected { ends ->
        val collected = CompletableDeferred<Unit>()
        ends.there.events("images").serveFlow(this) {
            flow {
                    repeat(2) { emit(it) }
                    while (true) emit(ByteArray(65 shl 20))
                }
                .onCompletion { collected.complete(Unit) }
        }
        val listener = ends.here.events("images").listen<Any>(null, ListenOptions().window(1).capacity(4))
        collected.await()
        listener.close()
    }

    @Test
    fun `a collector that throws, stops or is cancelled at any event leaves nothing behind`() = connected { ends ->
        val numbers = Numbers()
        ends.there.events("count").serveFlow(this) { numbers.from(1) }
        for (at in 1..40) {
            val flow = ends.here.events("count").asFlow<Int>(null, ListenOptions().window(1 + at % 5))
            val mine =
                thrownBy<IllegalStateException> { flow.collect { if (it == at) throw IllegalStateException("at $it") } }
            assertEquals("at $at", mine.message)
            ends.areIdle()
            assertEquals((1..at).toList(), flow.take(at).toList())
            ends.areIdle()
            val last = AtomicInteger()
            val collector = launch {
                flow.collect {
                    last.set(it)
                    if (it == at) coroutineContext[Job]?.cancel()
                }
            }
            collector.join()
            assertEquals(at, last.get())
            ends.areIdle()
            while (numbers.running.get() > 0) yield()
        }
    }

    @Test
    fun `a collector that is cancelled at a random moment leaves nothing behind`() = connected { ends ->
        val numbers = Numbers()
        val random = Random(System.getenv("CLEARWAY_FUZZ_SEED")?.toLongOrNull() ?: 1)
        ends.there.events("count").serveFlow(this) { numbers.from(1) }
        ends.there.events("quiet").serve(EventSource { _, _ -> })
        ends.there.methods("slow").handle(MethodTable().onSuspending("wait", this) { _, _ -> awaitCancellation() })
        repeat(System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: 75) {
            val job = launch {
                when (random.nextInt(3)) {
                    0 -> ends.here.events("count").asFlow<Int>().collect { if (it % 3 == 0) yield() }
                    1 -> ends.here.events("quiet").asFlow<Int>().collect {}
                    else -> ends.here.methods("slow").awaitCall<Any?>("wait")
                }
            }
            repeat(random.nextInt(30)) { yield() }
            job.cancelAndJoin()
        }
        ends.areIdle()
        while (numbers.running.get() > 0) yield()
    }

    @Test
    fun `each collection has its own stream, and goes on when another one ends`() = connected { ends ->
        ends.there.events("count").serveFlow(this) { Numbers().from(1) }
        val first = ends.here.events("count").asFlow<Int>()
        val begun = CompletableDeferred<Unit>()
        val ended = CompletableDeferred<List<Int>>()
        val go = CompletableDeferred<Unit>()
        launch {
            val read =
                first.onEach {
                    begun.complete(Unit)
                    go.await()
                }
            ended.complete(read.take(3).toList())
        }
        begun.await()
        assertEquals(1, ends.here.events("count").asFlow<Int>().take(1).toList().single())
        go.complete(Unit)
        assertEquals(listOf(1, 2, 3), ended.await())
    }

    @Test
    fun `a flow ends with transport-closed when the connection ends, also the one that is served`() =
        connected { ends ->
            val served = CompletableDeferred<Throwable?>()
            ends.there.events("count").serveFlow(this) {
                flow {
                        emit(1)
                        awaitCancellation()
                    }
                    .onCompletion { served.complete(it) }
            }
            val failed =
                thrownBy<ChannelException> {
                    ends.here.events("count").asFlow<Int>().collect { ends.there.terminate() }
                }
            assertEquals(ChannelError.TRANSPORT_CLOSED, failed.error)
            served.await()
        }
}
