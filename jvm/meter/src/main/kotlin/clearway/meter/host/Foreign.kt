// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.host

/**
 * Returns the result of `ask`, or null if the JVM does not have the feature or forbids it. The module `java.management`
 * may be missing, or a security manager may forbid access.
 */
internal inline fun <T> optional(ask: () -> T): T? =
    try {
        ask()
    } catch (_: LinkageError) {
        null
    } catch (_: SecurityException) {
        null
    }

/**
 * Runs `act`, which calls code outside the meter, such as the app's `onStall`. Exceptions of `act` go to the thread's
 * uncaught-exception handler.
 */
internal inline fun guarded(act: () -> Unit) {
    try {
        act()
    } catch (thrown: Throwable) {
        uncaught(thrown)
    }
}

/** Passes an exception to the thread's uncaught-exception handler. Never throws. */
internal fun uncaught(thrown: Throwable) {
    try {
        val thread = Thread.currentThread()
        thread.uncaughtExceptionHandler?.uncaughtException(thread, thrown)
    } catch (_: Throwable) {
        // The handler is foreign code, too.
    }
}
