// SPDX-License-Identifier: MIT OR Apache-2.0
@file:Suppress("DEPRECATION") // AccessController has no successor on the JDKs that have security contexts.

package clearway.plugin.host

import java.security.AccessController
import java.security.PrivilegedAction

/**
 * Creates a daemon thread that keeps nothing of the thread that creates it. A thread otherwise inherits the context
 * class loader, the inheritable thread-locals, the security context and the thread group, and a server could then not
 * unload the application that happened to come first. The context class loader is the one of this library.
 */
internal fun ownThread(name: String, run: Runnable): Thread =
    AccessController.doPrivileged(
        PrivilegedAction {
            Thread(outermostGroup(), run, name, 0, false).apply {
                isDaemon = true
                priority = Thread.NORM_PRIORITY
                use(PluginInstance::class.java.classLoader)
            }
        }
    )

private fun Thread.use(loader: ClassLoader?) {
    try {
        contextClassLoader = loader
    } catch (_: SecurityException) {
        // A security manager forbids it. The thread keeps the loader that it has.
    }
}

/** Returns the outermost thread group, which no application owns. Returns null if a security manager chooses it. */
private fun outermostGroup(): ThreadGroup? {
    if (System.getSecurityManager() != null) return null
    var group = Thread.currentThread().threadGroup
    while (group?.parent != null) group = group.parent
    return group
}
