// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel

import clearway.channel.transport.ChannelTransport
import clearway.channel.transport.MemoryTransport
import clearway.channel.transport.StreamTransport
import clearway.channel.transport.TransportLimits
import java.nio.channels.Channels
import java.nio.channels.Pipe
import java.util.Random
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Makes random calls, cancellations, streams and ends in any order. Checks that every future settles, nothing stays
 * open and no thread of a transport remains.
 */
class ChaosTest {
    private class Run(seed: Long, transports: Pair<ChannelTransport, ChannelTransport>) {
        val random = Random(seed)
        val clock = FakeClock()
        val futures = ConcurrentLinkedQueue<CompletableFuture<*>>()
        val running = AtomicInteger()
        val handlers = Executors.newCachedThreadPool { Thread(it, "chaos").apply { isDaemon = true } }
        val ends: List<Endpoint>

        init {
            val connecting = transports.toList().map { Endpoint.connect(it, options()) }
            ends = connecting.map { it.get(LIMIT, TimeUnit.SECONDS) }
            for (end in ends) serve(end)
        }

        private fun options() =
            EndpointOptions().callsMax(8).replyBytesMax(5000).earlyMs(5).clock(clock).executor(handlers).onError { _, _
                ->
            }

        private fun serve(end: Endpoint) {
            end.methods("m")
                .handle(
                    MethodTable()
                        .on("answer") { args, _ -> args }
                        .on("throw") { _, _ -> throw AssertionError("broken") }
                        .on("large") { _, _ -> ByteArray(1500) }
                        .on("untilCancelled") { _, context ->
                            running.incrementAndGet()
                            val cancelled = CompletableFuture<Any?>()
                            context.onCancel { cancelled.complete(null) }
                            cancelled.whenComplete { _, _ -> running.decrementAndGet() }
                        }
                )
            end.messages("n").handle({ message, _ -> Reply.of(message) })
            end.events("pushed").serve({ _, sink -> repeat(20) { futures += sink.send(ByteArray(100)) } })
            end.events("each").serveEach({ generateSequence(0) { it + 1 }.asIterable() })
        }

        private fun <T> pick(vararg from: T): T = from[random.nextInt(from.size)]

        fun step() {
            val end = pick(*ends.toTypedArray())
            when (random.nextInt(12)) {
                0,
                1,
                2 -> {
                    val method = pick("answer", "throw", "large", "untilCancelled", "missing")
                    val options = CallOptions()
                    if (random.nextBoolean()) options.timeoutMs(1L + random.nextInt(5))
                    if (random.nextBoolean()) options.deadlineMs(1L + random.nextInt(5))
                    futures += end.methods("m").call<Any>(method, random.nextInt(), options)
                }
                3 -> futures += end.messages(pick("n", "nobody")).send("text")
                4 -> futures += end.messages("n").post("text")
                5,
                6 -> futures.toList().takeIf { it.isNotEmpty() }?.let { it[random.nextInt(it.size)].cancel(true) }
                7,
                8 -> {
                    val stream =
                        end.events(pick("pushed", "each", "missing")).listen<Any>(null, ListenOptions().window(2))
                    repeat(random.nextInt(4)) { futures += stream.read() }
                    if (random.nextBoolean()) stream.close()
                }
                9,
                10 -> clock.pass(random.nextInt(4).toLong())
                else -> if (random.nextInt(10) == 0) futures += end.closeAsync(5)
            }
        }

        /** Ends the connection in one of several ways. */
        fun end() {
            when (random.nextInt(3)) {
                0 -> ends[0].terminate()
                1 -> for (end in ends) futures += end.closeAsync(1)
                else -> futures += ends[1].closeAsync(1)
            }
            // Only this loop moves the fake clock now. `close` waits for calls that never end by themselves.
            while (!ends.all { it.closed.isDone }) {
                clock.pass(5)
                Thread.yield()
            }
        }

        fun check(seed: Long) {
            for (future in futures) Outcome.of(future).get(LIMIT, TimeUnit.SECONDS)
            handlers.shutdown()
            assertTrue(handlers.awaitTermination(LIMIT, TimeUnit.SECONDS), "seed=$seed")
            // The thread that passes a request to the executor, or that cancels it, may not have come to that yet.
            val endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT)
            while (open() > 0 && System.nanoTime() < endNanos) Thread.yield()
            assertEquals(0, open(), "seed=$seed")
        }

        private fun open(): Long =
            running.get() + ends.sumOf { it.stats().run { calls + handling + waitingBytes + listening + serving } }
    }

    @Test
    fun `every future settles and nothing stays open, in any order of calls, cancellations and ends`(): Unit =
        orders(75) { MemoryTransport.pair(LIMITS) }

    @Test
    fun `every future settles and no thread remains over pipes, in any order of calls, cancellations and ends`(): Unit =
        orders(25) {
            val (there, back) = Pair(Pipe.open(), Pipe.open())
            Pair(transport(there.source(), back.sink()), transport(back.source(), there.sink()))
        }

    private fun transport(input: Pipe.SourceChannel, output: Pipe.SinkChannel) =
        StreamTransport.of(Channels.newInputStream(input), Channels.newOutputStream(output), LIMITS)

    /**
     * The threads that belong to one transport. Endpoints share all others, which end when they were idle for a while.
     */
    private fun threads(): Set<Thread> = Thread.getAllStackTraces().keys.filter { it.name.matches(OWN_THREAD) }.toSet()

    private fun orders(runsByDefault: Int, transports: () -> Pair<ChannelTransport, ChannelTransport>) {
        val asked = System.getenv("CLEARWAY_FUZZ_SEED")
        val first = if (asked == "random") System.nanoTime() else asked?.toLong() ?: 1
        val runs = System.getenv("CLEARWAY_FUZZ_RUNS")?.toInt() ?: runsByDefault
        println("runs=$runs seed=$first")
        for (seed in first until first + runs) {
            val before = threads()
            val run = Run(seed, transports())
            repeat(60) { run.step() }
            run.end()
            run.check(seed)
            for (left in threads() - before) {
                left.join(LIMIT * 1000)
                assertFalse(left.isAlive, "${left.name} was left: seed=$seed")
            }
        }
    }

    private companion object {
        const val LIMIT = 60L
        val LIMITS = TransportLimits(1 shl 20, 1000)
        val OWN_THREAD = Regex("clearway-channel-(reader|writer|closer)-.*")
    }
}
