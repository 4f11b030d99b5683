// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * Features that only some JVMs have or allow: null without `java.management`, or if a security manager forbids them.
 */
internal inline fun <T> optional(ask: () -> T): T? =
    try {
        ask()
    } catch (_: LinkageError) {
        null
    } catch (_: SecurityException) {
        null
    }

/** Calls the application's code. What that throws goes to the thread's handler of uncaught errors. */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code as well.
    }
}
