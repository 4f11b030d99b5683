// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.coroutines

import clearway.channel.Endpoint
import clearway.channel.EndpointOptions
import clearway.channel.transport.MemoryTransport
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals

/** Two connected endpoints in this process. `here` is the one that the coroutines under test use. */
class Ends(val here: Endpoint, val there: Endpoint) {
    /** Waits until neither endpoint has a call or a stream. It never ends if something was left behind. */
    suspend fun areIdle() {
        for (end in listOf(here, there)) {
            while (end.stats().run { calls + handling + listening + serving } > 0) yield()
            assertEquals(0, end.stats().waitingBytes)
        }
    }
}

/** Runs a test with two endpoints, on real threads, and checks that it leaves nothing behind. */
fun connected(options: EndpointOptions = EndpointOptions(), test: suspend CoroutineScope.(Ends) -> Unit): Unit =
    runBlocking(Dispatchers.Default) {
        withTimeout(100_000) {
            val (one, other) = MemoryTransport.pair()
            val there = Endpoint.connect(other, options)
            val ends = Ends(Endpoint.awaitConnect(one), there.get())
            try {
                test(ends)
                ends.areIdle()
            } finally {
                ends.here.terminate()
                ends.there.terminate()
            }
        }
    }
