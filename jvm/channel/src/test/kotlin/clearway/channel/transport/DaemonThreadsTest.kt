// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

import java.net.URLClassLoader
import java.util.concurrent.CompletableFuture
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class DaemonThreadsTest {
    @Test
    fun `a thread inherits nothing from the thread that creates it`() {
        val inherited = InheritableThreadLocal<String>()
        val value = CompletableFuture<String?>()
        val made = CompletableFuture<Thread>()
        val app =
            Thread(ThreadGroup("app")) {
                inherited.set("app")
                made.complete(DaemonThreads("test-").newThread { value.complete(inherited.get()) })
            }
        app.contextClassLoader = URLClassLoader(emptyArray(), javaClass.classLoader)
        app.priority = Thread.MIN_PRIORITY
        app.start()
        val thread = made.join()
        assertEquals("test-1", thread.name)
        assertTrue(thread.isDaemon)
        assertEquals(DaemonThreads::class.java.classLoader, thread.contextClassLoader)
        assertEquals(Thread.NORM_PRIORITY, thread.priority)
        assertNotSame(app.threadGroup, thread.threadGroup)
        thread.start()
        assertEquals(null, value.join())
    }
}
