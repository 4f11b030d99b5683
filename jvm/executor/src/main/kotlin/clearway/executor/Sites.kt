// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.executor

import clearway.executor.run.Singles
import java.util.concurrent.ConcurrentHashMap
import java.util.stream.Stream

/**
 * The sites of an executor. *Named* sites are asked for by name and kept for the executor's life. *Code* sites belong
 * to tasks without a site, and are named by the code that submits them. Generated code can make any number of code
 * sites, so the ones that were not used recently are dropped. Keeps names, and no classes. Thread-safe.
 */
internal class Sites(private val namedMax: Int = NAMED_MAX, codeMax: Int = CODE_MAX) {
    private val named = ConcurrentHashMap<String, Site>()
    private val code = RecentSites(codeMax)

    /** Returns the named site, with any options. Creates it with default options if there is none. */
    fun named(name: String): Site = named[name] ?: create(name, SiteOptions())

    /** Returns the named site. Throws SiteMismatchException if it has other options. */
    fun named(name: String, options: SiteOptions): Site {
        val site = named[name] ?: create(name, options)
        if (site.options != options) throw SiteMismatchException(name, site.options, options)
        return site
    }

    private fun create(name: String, options: SiteOptions): Site =
        synchronized(this) {
            named[name]?.let {
                return it
            }
            if (named.size >= namedMax) throw TooManySitesException(name, namedMax)
            Site(name, options).also { named[name] = it }
        }

    /**
     * Returns the site of a task that was submitted without one. `parent` is the site of the task that runs on this
     * thread.
     */
    fun of(task: Any, parent: Site?): Site {
        val name = nameOf(task, parent)
        return named[name] ?: code[name]
    }

    /**
     * A class of the JDK, such as the tasks of CompletableFuture, says nothing about the work. The submitting code
     * does. If that is only the JDK, as for a stage that depends on a running task, the work is named after that task.
     */
    private fun nameOf(task: Any, parent: Site?): String {
        val type = task.javaClass
        if (type.classLoader != null) return type.name
        CallerCode.find(Singles.TASK_CLASS)?.let {
            return it
        }
        if (parent == null) return type.name
        // A chain of stages may be endless. From this depth on, a stage shares the site of the stage before it.
        if (parent.name.split(FOLLOWED_BY).size > STAGES_MAX) return parent.name
        return parent.name + FOLLOWED_BY + type.name.substringAfterLast('.').substringAfterLast('$')
    }

    val all: List<Site>
        get() = named.values + code.all

    val size: Int
        get() = named.size + code.size

    companion object {
        /** Maximum number of named sites. A program names its kinds of work: a large one has hundreds. */
        const val NAMED_MAX = 4096
        /** Maximum number of code sites. A site takes about 1 KB, so that all of them take 1 MB. */
        const val CODE_MAX = 1024
        private const val FOLLOWED_BY = " > "
        private const val STAGES_MAX = 4
    }
}

/**
 * At most `max` sites, of which the half that was used last is kept. A site is `recent`, or among the `older` ones,
 * which are dropped when the recent ones fill their half. A dropped site is created again on its next use, and then has
 * learnt nothing.
 */
internal class RecentSites(private val max: Int) {
    @Volatile private var recent = ConcurrentHashMap<String, Site>()
    private var older: MutableMap<String, Site> = HashMap()

    operator fun get(name: String): Site = recent[name] ?: renewed(name)

    private fun renewed(name: String): Site =
        synchronized(this) {
            recent[name]?.let {
                return it
            }
            val site = older.remove(name) ?: Site(name, SiteOptions())
            if (recent.size >= max / 2) {
                older = recent
                recent = ConcurrentHashMap()
            }
            recent[name] = site
            site
        }

    val all: List<Site>
        get() = synchronized(this) { recent.values + older.values }

    val size: Int
        get() = synchronized(this) { recent.size + older.size }
}

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

/**
 * Numbers of an executor at one time, for metrics. They are read one after another while the executor runs, so they may
 * differ by a few tasks. Tasks are those of `execute`, `submit`, `callAsync` and `settleEach`; a batch counts as no
 * task.
 *
 * @property cpuThreads number of CPU workers that exist. Idle ones end after 20 seconds
 * @property cpuThreadsMax maximum number of CPU workers
 * @property tasksWaiting number of tasks that have not begun
 * @property tasksRunning number of tasks that run
 * @property tasksEnded number of tasks that have run to their end, with or without an exception
 * @property batchesRunning number of batches that run
 * @property sites number of sites that the executor keeps
 */
public class ExecutorStatus
internal constructor(
    public val cpuThreads: Int,
    public val cpuThreadsMax: Int,
    public val tasksWaiting: Long,
    public val tasksRunning: Long,
    public val tasksEnded: Long,
    public val batchesRunning: Int,
    public val sites: Int,
) {
    override fun toString(): String =
        "cpuThreads=$cpuThreads of $cpuThreadsMax, tasksWaiting=$tasksWaiting, tasksRunning=$tasksRunning, " +
            "tasksEnded=$tasksEnded, batchesRunning=$batchesRunning, sites=$sites"
}
