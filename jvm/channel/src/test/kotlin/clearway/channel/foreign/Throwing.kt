// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.channel.foreign

/** A Throwable that is neither an Exception nor an Error. The JVM can throw any Throwable. */
class Odd : Throwable("odd")

/** An exception whose `message` throws. */
class Mute : RuntimeException() {
    override val message: String
        get() = throw IllegalStateException("the message throws")
}

/** The things that application code may throw, by name. */
val THROWING: Map<String, () -> Nothing> =
    linkedMapOf(
        "an exception" to { throw IllegalStateException("broken") },
        "a checked exception" to { throw java.io.IOException("broken") },
        "an AssertionError" to { throw AssertionError("broken") },
        "a StackOverflowError" to ::overflow,
        "Kotlin's TODO()" to { TODO() },
        "an OutOfMemoryError" to { throw OutOfMemoryError("none left") },
        "a Throwable of its own" to { throw Odd() },
        "an exception without words" to { throw Mute() },
    )

private fun overflow(): Nothing =
    try {
        error("it ends at ${deeper(0)}")
    } catch (thrown: StackOverflowError) {
        thrown.stackTrace = thrown.stackTrace.copyOf(4) // Keeps the printed trace short.
        throw thrown
    }

private fun deeper(depth: Int): Int = 1 + deeper(depth + 1)
