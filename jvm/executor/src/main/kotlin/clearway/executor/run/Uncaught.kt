// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

/**
 * Passes an exception that no caller waits for to the thread's uncaught-exception handler. Never throws, so that the
 * thread continues.
 */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code, too.
    }
}

/**
 * Returns an exception that is safe to fail a future with. CompletableFuture calls `toString` of its failure; if that
 * call throws, dependent stages never complete. The result is therefore a replacement if `toString` throws.
 */
internal fun withSafeToString(thrown: Throwable): Throwable =
    try {
        thrown.toString()
        thrown
    } catch (_: Throwable) {
        RuntimeException("${thrown.javaClass.name}, whose own message throws")
    }
