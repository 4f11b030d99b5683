// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/**
 * Hands what nobody else can be told to the thread's handler of uncaught errors, which prints it unless the application
 * says otherwise. Never throws, so that the thread goes on.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code as well, and so are the words of what was thrown.
    }
}

/** Calls code that must not throw and may do so all the same. The calling thread goes on. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/**
 * What a future may fail with. A CompletableFuture asks a failure for its words, and where these throw it tells none of
 * those who wait.
 */
internal fun speaking(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
