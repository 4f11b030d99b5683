// SPDX-License-Identifier: MIT OR Apache-2.0
@file:Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.

package clearway.executor.host

import java.security.AccessController
import java.security.PrivilegedAction

/**
 * A daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context class
 * loader, the inheritable thread-locals and the thread group, and a server could then not unload the application that
 * happened to come first. The context class loader is the one of this library. Create it with [detached].
 */
internal open class OwnThread(name: String, run: Runnable? = null) : Thread(outermostGroup(), run, name, 0, false) {
    init {
        isDaemon = true
        priority = NORM_PRIORITY
        try {
            contextClassLoader = libraryLoader
        } catch (_: SecurityException) {
            // A security manager forbids it. The thread keeps the loader that it has.
        }
    }

    companion object {
        /** The class loader of this library. A thread that has it keeps no other one. */
        val libraryLoader: ClassLoader? = OwnThread::class.java.classLoader

        /** Calls `create` without the callers' security context, which a thread's constructor keeps on older JDKs. */
        fun <T : Thread> detached(create: () -> T): T = AccessController.doPrivileged(PrivilegedAction { create() })
    }
}

/** Returns the outermost thread group, which no application owns. Returns null if a security manager chooses it. */
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}
