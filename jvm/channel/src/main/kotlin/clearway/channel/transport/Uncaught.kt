// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/**
 * Passes an error that no caller gets to the thread's handler of uncaught errors, which prints it unless the
 * application says otherwise. Never throws, so that the thread goes on.
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
 * Returns an error that a future can fail with. A CompletableFuture calls its failure's `toString`; if that throws,
 * dependent stages never complete.
 */
internal fun speaking(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
