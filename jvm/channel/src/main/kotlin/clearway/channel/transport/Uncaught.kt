// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.transport

/**
 * Passes an error that no caller receives to the thread's uncaught exception handler. By default, that handler prints
 * the error. Never throws, so that the thread continues.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler, or a method of the error, threw. Both are application code, and no other handler is left.
    }
}

/** Runs code whose exceptions must not end the calling thread. Passes the exceptions to [uncaught]. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/**
 * Returns an error that is safe to fail a future with. CompletableFuture calls `toString` of its failure; if that call
 * throws, dependent stages never complete. The result is therefore a replacement if `toString` throws.
 */
internal fun withSafeToString(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
