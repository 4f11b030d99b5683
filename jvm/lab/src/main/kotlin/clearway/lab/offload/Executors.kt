// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.offload

import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

private val processors = Runtime.getRuntime().availableProcessors()

/** Number of threads that gives each action of a batch its own thread. */
internal const val MANY = 100

/** Strategies of the JDK's executors. They use `invokeAll`, which is designed for batches. */
internal val executorStrategies: List<StrategyKind> =
    listOf(
        StrategyKind("fixed-pool-invokeall") { Invoking(Executors.newFixedThreadPool(processors)) },
        StrategyKind("work-stealing-invokeall") { Invoking(Executors.newWorkStealingPool()) },
        StrategyKind("fixed-100-invokeall") { Invoking(Executors.newFixedThreadPool(MANY)) },
        StrategyKind("work-stealing-100-invokeall") { Invoking(Executors.newWorkStealingPool(MANY)) },
        StrategyKind("virtual-threads", VirtualThreads.unavailable) { Invoking(VirtualThreads.executor()) },
    )

private class Invoking(private val executor: ExecutorService) : Strategy {
    override fun batch(seeds: IntArray, action: Action, results: DoubleArray) {
        val calls = List(seeds.size) { at -> Callable { results[at] = action.run(seeds[at]) } }
        for (done in executor.invokeAll(calls)) done.get()
    }

    override fun close() {
        executor.shutdown()
        executor.awaitTermination(10, TimeUnit.SECONDS)
    }
}

/** Gives access to virtual threads through method handles, so that JDK 17 can compile it. */
internal object VirtualThreads {
    private const val SINCE = 21

    val unavailable: String? =
        if (Runtime.version().feature() >= SINCE) null
        else "virtual threads need a JDK $SINCE or newer: add one, or leave out --jdk ${Runtime.version().feature()}"

    /**
     * Returns an executor that starts a virtual thread per task. Throws UnsupportedOperationException before JDK 21.
     */
    fun executor(): ExecutorService {
        if (unavailable != null) throw UnsupportedOperationException(unavailable)
        val type = MethodType.methodType(ExecutorService::class.java)
        val make =
            MethodHandles.publicLookup().findStatic(Executors::class.java, "newVirtualThreadPerTaskExecutor", type)
        return make.invoke() as ExecutorService
    }

    /** Starts `task` on a virtual thread. Throws UnsupportedOperationException before JDK 21. */
    fun start(task: Runnable): Thread {
        if (unavailable != null) throw UnsupportedOperationException(unavailable)
        val type = MethodType.methodType(Thread::class.java, Runnable::class.java)
        return MethodHandles.publicLookup().findStatic(Thread::class.java, "startVirtualThread", type).invoke(task)
            as Thread
    }
}
