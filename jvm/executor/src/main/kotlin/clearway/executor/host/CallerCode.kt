// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor.host

import java.util.stream.Stream

/** Finds the code that submits a task: the innermost stack frame outside the JDK and the executor. */
internal object CallerCode {
    // Without class references: a name keeps no class loaded.
    private val walker: StackWalker = StackWalker.getInstance()
    private val OWN =
        arrayOf("clearway.executor.AdaptiveExecutor", "clearway.executor.Sites", CallerCode::class.java.name)
    private val JDK = arrayOf("java.", "jdk.", "sun.")

    /**
     * Returns the class, method and line of the submitting code. Returns null if all frames belong to the JDK, up to
     * the first frame of the class `within` or to the end of the stack. Takes 1 to 3 us.
     */
    fun find(within: String): String? = walker.walk { frames: Stream<StackWalker.StackFrame> -> first(frames, within) }

    private fun first(frames: Stream<StackWalker.StackFrame>, within: String): String? {
        for (frame in frames) {
            val type = frame.className
            if (type == within) return null
            if (JDK.any(type::startsWith) || OWN.any { type == it || type.startsWith("$it$") }) continue
            val line = frame.lineNumber
            // Code without line numbers has only the offset in its method.
            return "$type.${frame.methodName}:" + if (line > 0) "$line" else "@${frame.byteCodeIndex}"
        }
        return null
    }
}
