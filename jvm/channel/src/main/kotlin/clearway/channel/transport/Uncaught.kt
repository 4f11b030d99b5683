// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/**
 * Passes an error that no caller receives to the thread's uncaught exception handler. By default that handler prints
 * the error. Never throws, so that the thread continues.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code, and so are the error's own methods.
    }
}

/** Runs code that must not throw, and passes its exceptions to [uncaught]. The calling thread continues. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/**
 * Returns an error that a future can fail with. A CompletableFuture calls its failure's `toString`. If `toString`
 * throws, dependent stages never complete.
 */
internal fun speaking(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
