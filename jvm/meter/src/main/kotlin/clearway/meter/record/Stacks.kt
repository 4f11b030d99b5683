// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.StackSample

/** As deep as the stacks of a report go; what called an event's handler is found long before. */
private const val FRAMES_MAX = 32

private val PLATFORM = listOf("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.")

/**
 * The frames of a held thread, innermost first, as text. The platform's own are left out where the app's are among
 * them; where there are none (a toolkit that lays out or paints), they stand, if the thread was running. Empty for one
 * that waits and shows nothing of the app: it waits for its next event.
 */
internal fun frames(stack: Array<StackTraceElement>, isRunning: Boolean): List<String> {
    val app = stack.filter { frame -> PLATFORM.none { frame.className.startsWith(it) } }
    val shown = app.ifEmpty { if (isRunning) stack.toList() else emptyList() }
    return shown.take(FRAMES_MAX).map { "${it.className}.${it.methodName}(${place(it)})" }
}

private fun place(frame: StackTraceElement): String =
    when {
        frame.isNativeMethod -> "native"
        frame.fileName == null -> "unknown source"
        frame.lineNumber < 0 -> frame.fileName.orEmpty()
        else -> "${frame.fileName}:${frame.lineNumber}"
    }

/** Joins equal stacks, most often seen first. */
internal fun gathered(samples: List<List<String>>): List<StackSample> =
    samples
        .groupingBy { it }
        .eachCount()
        .map { (frames, seen) -> StackSample(frames, seen) }
        .sortedByDescending { it.seen }
