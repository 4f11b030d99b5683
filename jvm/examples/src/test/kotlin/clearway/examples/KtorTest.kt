// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.examples

import clearway.executor.AdaptiveExecutor
import clearway.executor.coroutines.awaitMapAll
import io.ktor.server.application.createApplicationPlugin
import io.ktor.server.application.install
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import io.ktor.server.response.respondText
import io.ktor.server.routing.get
import io.ktor.server.routing.routing
import io.netty.channel.MultiThreadIoEventLoopGroup
import io.netty.channel.local.LocalIoHandler
import java.net.URI
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A server with Ktor's Netty engine, whose calls run on event loops. */
class KtorTest {
    // #region ktor-guard
    /** Registers each event loop when it runs its first call. This takes some ms for each loop. */
    private fun eventLoopGuard(executor: AdaptiveExecutor) =
        createApplicationPlugin("EventLoopGuard") {
            val loops = ConcurrentHashMap.newKeySet<Thread>()
            onCall { if (loops.add(Thread.currentThread())) executor.registerEventThread(Thread.currentThread()) }
        }

    // #endregion ktor-guard

    @Test
    fun `a Ktor handler answers with a batch that suspends, and a blocking batch on its event loop is refused`() {
        AdaptiveExecutor().use { executor ->
            val thumbnails = executor.site("thumbnails")
            val images = listOf("a.png", "b.png")
            val server =
                embeddedServer(Netty, port = 0, host = "127.0.0.1") {
                    // #region ktor
                    install(eventLoopGuard(executor))
                    routing {
                        get("/small") {
                            // The event loop serves other calls while the batch runs.
                            val small = executor.awaitMapAll(thumbnails, images) { image -> "$image small" }
                            call.respondText(small.joinToString())
                        }
                    }
                    // #endregion ktor
                    routing {
                        get("/blocking") {
                            val refused = runCatching { executor.mapAll(thumbnails, images) { it } }.exceptionOrNull()
                            call.respondText(refused.toString())
                        }
                    }
                }
            server.start(wait = false)
            try {
                val port = runBlocking { server.engine.resolvedConnectors().single().port }
                assertEquals("a.png small, b.png small", read("http://127.0.0.1:$port/small"))
                val refused = read("http://127.0.0.1:$port/blocking")
                assertTrue(refused.startsWith("java.lang.IllegalStateException: a batch would block"), refused)
            } finally {
                server.stop(100, 5_000)
            }
        }
    }

    private fun read(address: String): String {
        val connection = URI(address).toURL().openConnection()
        // An open connection would outlive the event loops, and Netty would warn.
        connection.setRequestProperty("Connection", "close")
        return connection.getInputStream().bufferedReader().use { it.readText() }
    }
}

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
