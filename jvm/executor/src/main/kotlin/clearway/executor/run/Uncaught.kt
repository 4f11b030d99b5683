// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.run

/** Passes an error that no caller gets to the thread's handler of uncaught errors. Never throws: the thread goes on. */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code as well.
    }
}
