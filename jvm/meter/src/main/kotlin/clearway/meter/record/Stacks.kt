// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.meter.record

import clearway.meter.StackSample

/** Maximum number of frames of a stack in a report. The handler of an event and its callers are within that depth. */
private const val FRAMES_MAX = 32

private val PLATFORM = listOf("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.")

/**
 * Returns the frames of a blocked thread as text, innermost first. Omits the platform's frames if the stack has frames
 * of the app. If it has none, a running thread keeps the platform's frames (a toolkit that lays out or paints). A
 * waiting thread gets an empty list, because it waits for its next event.
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

/** Groups equal stacks. The most frequent stack comes first. */
internal fun gathered(samples: List<List<String>>): List<StackSample> =
    samples
        .groupingBy { it }
        .eachCount()
        .map { (frames, seen) -> StackSample(frames, seen) }
        .sortedByDescending { it.seen }
