// SPDX-License-Identifier: MIT OR Apache-2.0
package clearway.lab.foreign

import clearway.lab.channel.Caller
import clearway.lab.channel.Crossing
import clearway.lab.channel.Row
import clearway.lab.memory.Filler

/**
 * The mechanisms that need java.lang.foreign. The module lab-foreign implements them as a service. It is compiled only
 * with a JDK that has java.lang.foreign, and is called only on JDK 22 and newer.
 */
public interface ForeignPeers {
    /**
     * Opens a mechanism that fills a buffer, by a name of [Foreign.fillers]. Throws if it cannot; the message names the
     * missing part.
     */
    public fun filler(mechanism: String, bytes: Int): Filler

    /** Opens a mechanism that sends bytes to C and back without Clearway. Throws as [filler] does. */
    public fun crossing(mechanism: String): Crossing

    /** Opens a channel to a plugin. Throws as [filler] does. */
    public fun caller(mechanism: String, row: Row): Caller
}
