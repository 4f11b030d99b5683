// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * Returns the result of `ask`, or null where the JVM does not have or allow it: without the module `java.management`,
 * or under a security manager that forbids it.
 */
internal inline fun <T> optional(ask: () -> T): T? =
    try {
        ask()
    } catch (_: LinkageError) {
        null
    } catch (_: SecurityException) {
        null
    }

/** Calls the application's code. Its exceptions go to the thread's uncaught-exception handler. */
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
        // The handler is foreign code, too.
    }
}
