// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.examples

import clearway.executor.AdaptiveExecutor
import clearway.executor.coroutines.awaitMapAll
import io.netty.channel.MultiThreadIoEventLoopGroup
import io.netty.channel.local.LocalIoHandler
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Coroutines on an event loop of Netty, as in Ktor's server. */
class EventLoopTest {
    @Test
    fun `a coroutine on an event loop waits for a batch without blocking the loop`() {
        val loops = MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory())
        try {
            AdaptiveExecutor().use { executor ->
                NettyTest.guard(executor, loops)
                val site = executor.site("thumbnails")
                val images = listOf("a.png", "b.png")
                runBlocking {
                    // #region event-loop
                    // On an event loop, runAll and mapAll throw. The suspending functions give the loop back.
                    withContext(loops.next().asCoroutineDispatcher()) {
                        val small = executor.awaitMapAll(site, images) { image -> "$image small" }
                        assertEquals(listOf("a.png small", "b.png small"), small)
                    }
                    // #endregion event-loop
                }
                assertThrows(IllegalStateException::class.java) {
                    runBlocking(loops.next().asCoroutineDispatcher()) { executor.mapAll(site, images) { it } }
                }
            }
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly()
        }
    }
}
